#include "stop_signal.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace cohort::tool {
namespace {

// A signal handler can reach nothing else: a flag for those who ask, an event for those who wait.
std::atomic<bool> is_stop_asked{false};
std::atomic<int> stop_event{-1};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void ask_to_stop(int) {
  const int before = errno;
  is_stop_asked.store(true);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_event.load(), &one, sizeof one);
  errno = before;
}

}  // namespace

void StopSignal::install() {
  if (stop_event.load() < 0) stop_event.store(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool StopSignal::is_raised() noexcept {
  return is_stop_asked.load();
}

void StopSignal::wait(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!is_raised()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    pollfd event{.fd = stop_event.load(), .events = POLLIN, .revents = 0};
    (void)::poll(&event, 1, static_cast<int>(left.count()));
  }
}

}  // namespace cohort::tool

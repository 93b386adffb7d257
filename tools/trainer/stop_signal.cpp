#include "stop_signal.h"

#include <atomic>
#include <csignal>

namespace cohort::tool {
namespace {

// A signal handler can reach nothing else.
std::atomic<bool> is_stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void ask_to_stop(int) {
  is_stop_asked.store(true);
}

}  // namespace

void StopSignal::install() {
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool StopSignal::is_raised() noexcept {
  return is_stop_asked.load();
}

}  // namespace cohort::tool

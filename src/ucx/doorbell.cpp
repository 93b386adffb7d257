#include "ucx/doorbell.h"

#include "base/system_error.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <sys/eventfd.h>

namespace cohort::ucx {
namespace {

// The time from now until `until`, at most a year.
timespec time_left(TimePoint until) {
  using namespace std::chrono;
  const auto left = until - steady_clock::now();
  const auto ns = std::clamp<std::int64_t>(duration_cast<nanoseconds>(left).count(), 0,
                                           duration_cast<nanoseconds>(hours(24 * 365)).count());
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

}  // namespace

UcxDoorbell::UcxDoorbell(std::shared_ptr<UcxWorker> worker)
    : worker_(std::move(worker)), bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!bell_.is_open()) raise(system_error("cannot create an eventfd for the doorbell", errno));
}

std::uint32_t UcxDoorbell::arm() {
  sleepers_.fetch_add(1);
  return rings_.load();
}

void UcxDoorbell::sleep(std::uint32_t ticket, TimePoint until) {
  if (rings_.load() != ticket) return;
  std::array<pollfd, 2> watched{{{.fd = bell_.number(), .events = POLLIN, .revents = 0}, {}}};
  nfds_t num_watched = 1;
  {
    const std::lock_guard lock(worker_->mutex());
    if (worker_->handle() != nullptr) {
      const std::optional<int> event = worker_->arm();
      if (!event) return;  // an event has already arrived
      watched[num_watched++] = {.fd = *event, .events = POLLIN, .revents = 0};
    }
  }
  const timespec left = time_left(until);
  ::ppoll(watched.data(), num_watched, &left, nullptr);
  std::uint64_t count = 0;
  (void)!::read(bell_.number(), &count, sizeof count);
}

void UcxDoorbell::disarm() {
  sleepers_.fetch_sub(1);
}

void UcxDoorbell::ring() {
  rings_.fetch_add(1);
  if (sleepers_.load() == 0) return;
  const std::uint64_t one = 1;
  (void)!::write(bell_.number(), &one, sizeof one);
}

}  // namespace cohort::ucx

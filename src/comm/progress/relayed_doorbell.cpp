#include "comm/progress/relayed_doorbell.h"

namespace cohort::comm {

RelayedDoorbell::RelayedDoorbell(std::unique_ptr<Doorbell> first, Doorbell& second)
    : first_(std::move(first)),
      second_(second),
      watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

RelayedDoorbell::~RelayedDoorbell() {
  watcher_.request_stop();
  first_->ring();
  watcher_.join();
}

// The ticket is taken first: the watcher may ring, and stop watching, as soon as is_armed_ is set.
std::uint32_t RelayedDoorbell::arm() {
  const std::uint32_t ticket = second_.arm();
  {
    const std::lock_guard lock(mutex_);
    is_armed_ = true;
  }
  armed_.notify_one();
  return ticket;
}

// Once armed, the watcher sleeps at the first doorbell until a ring, even if the sleeper has woken up
// meanwhile.
void RelayedDoorbell::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!armed_.wait(lock, stop, [&] { return is_armed_; })) return;
      is_armed_ = false;
    }
    const std::uint32_t ticket = first_->arm();
    if (!stop.stop_requested()) first_->sleep(ticket, TimePoint::max());
    first_->disarm();
    second_.ring();
  }
}

}  // namespace cohort::comm

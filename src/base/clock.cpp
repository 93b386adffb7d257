#include "base/clock.h"

namespace cohort {
namespace {

std::chrono::nanoseconds scaled(std::chrono::nanoseconds duration, double factor) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(duration.count()) * factor));
}

}  // namespace

TimePoint RealClock::now() const {
  return std::chrono::steady_clock::now();
}

WallTime RealClock::wall() const {
  return std::chrono::system_clock::now();
}

bool RealClock::sleep_until(TimePoint deadline, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_until(lock, stop, deadline, [] { return false; });
  return !stop.stop_requested();
}

ManualClock::ManualClock(TimePoint start, WallTime wall) : now_(start), wall_(wall) {}

TimePoint ManualClock::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

WallTime ManualClock::wall() const {
  const std::lock_guard lock(mutex_);
  return wall_;
}

bool ManualClock::sleep_until(TimePoint deadline, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  ++sleepers_;
  const bool reached = moved_.wait(lock, stop, [&] { return now_ >= deadline; });
  --sleepers_;
  return reached;
}

void ManualClock::advance(std::chrono::nanoseconds by) {
  {
    const std::lock_guard lock(mutex_);
    now_ += by;
    wall_ += std::chrono::duration_cast<WallTime::duration>(by);
  }
  moved_.notify_all();
}

int ManualClock::sleepers() const {
  const std::lock_guard lock(mutex_);
  return sleepers_;
}

FaultyClock::FaultyClock(Clock& inner, ClockFaults faults)
    : inner_(inner), rate_(faults.rate), start_(inner.now()), wall_offset_(faults.wall_offset) {}

TimePoint FaultyClock::now() const {
  return start_ + scaled(inner_.now() - start_, rate_);
}

WallTime FaultyClock::wall() const {
  const std::lock_guard lock(mutex_);
  return inner_.wall() + std::chrono::duration_cast<WallTime::duration>(wall_offset_);
}

bool FaultyClock::sleep_until(TimePoint deadline, std::stop_token stop) {
  return inner_.sleep_until(start_ + scaled(deadline - start_, 1.0 / rate_), stop);
}

void FaultyClock::jump_wall(std::chrono::nanoseconds by) {
  const std::lock_guard lock(mutex_);
  wall_offset_ += by;
}

}  // namespace cohort

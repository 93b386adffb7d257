#pragma once

#include "base/clock.h"

#include <cstdint>
#include <mutex>

namespace cohort {

/// The errors of a FaultyClock.
struct ClockFaults {
  double rate = 1.0;                        ///< 1.01: the clock gains one second in a hundred
  std::chrono::nanoseconds wall_offset{0};  ///< error of the date
};

/// Another clock as seen from a host whose oscillator drifts and whose date is wrong.
///
/// Lifetime: the wrapped clock must outlive this one.
class FaultyClock final : public Clock {
 public:
  FaultyClock(Clock& inner, ClockFaults faults)
      : inner_(inner), rate_(faults.rate), start_(inner.now()), wall_offset_(faults.wall_offset) {}

  TimePoint now() const override {
    const std::chrono::nanoseconds elapsed = inner_.now() - start_;
    const double drifted = static_cast<double>(elapsed.count()) * rate_;
    return start_ + std::chrono::nanoseconds(static_cast<std::int64_t>(drifted));
  }

  WallTime wall() const override {
    const std::lock_guard lock(mutex_);
    return inner_.wall() + std::chrono::duration_cast<WallTime::duration>(wall_offset_);
  }

  /// Moves the date, as a correction by a time server does. now() is not affected.
  void jump_wall(std::chrono::nanoseconds by) {
    const std::lock_guard lock(mutex_);
    wall_offset_ += by;
  }

 private:
  Clock& inner_;
  const double rate_;
  const TimePoint start_;
  mutable std::mutex mutex_;
  std::chrono::nanoseconds wall_offset_;
};

}  // namespace cohort

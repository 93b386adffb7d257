#pragma once

#include <chrono>

namespace cohort {

using TimePoint = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

/// `now + limit`, or TimePoint::max() where the sum would overflow.
constexpr TimePoint deadline_after(TimePoint now, std::chrono::nanoseconds limit) {
  return limit > TimePoint::max() - now ? TimePoint::max() : now + limit;
}

/// The time, as an argument: a test or a simulation passes a clock of its own.
///
/// Threads: every method from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Monotonic time, for deadlines and durations.
  virtual TimePoint now() const = 0;
  /// Date and time of day, for people and logs only: the system clock may jump.
  virtual WallTime wall() const = 0;
};

/// The clocks of the operating system.
class RealClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
  WallTime wall() const override { return std::chrono::system_clock::now(); }
};

}  // namespace cohort

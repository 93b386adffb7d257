#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace cohort {

using TimePoint = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

/// `now + limit`, or the last point in time there is if that lies beyond it.
constexpr TimePoint deadline_after(TimePoint now, std::chrono::nanoseconds limit) {
  return limit > TimePoint::max() - now ? TimePoint::max() : now + limit;
}

/// Time, injected, so that a test or a simulation can own it.
///
/// Threads: every method from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Never goes back; says nothing about the date.
  virtual TimePoint now() const = 0;
  /// The date, for people and logs only: it may jump.
  virtual WallTime wall() const = 0;
  /// Waits for `deadline` on this clock. Returns false if `stop` was requested first.
  virtual bool sleep_until(TimePoint deadline, std::stop_token stop = {}) = 0;
};

/// The machine's own clock.
class RealClock final : public Clock {
 public:
  TimePoint now() const override;
  WallTime wall() const override;
  bool sleep_until(TimePoint deadline, std::stop_token stop = {}) override;
};

/// A clock that stands still until it is told to advance: the in-memory kind.
///
/// Lifetime: must outlive every sleeper.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint start = TimePoint{}, WallTime wall = WallTime{});

  TimePoint now() const override;
  WallTime wall() const override;
  bool sleep_until(TimePoint deadline, std::stop_token stop = {}) override;

  /// Moves time on and wakes whoever was waiting for it.
  void advance(std::chrono::nanoseconds by);
  /// How many threads sleep on this clock now.
  int sleepers() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable_any moved_;
  TimePoint now_;
  WallTime wall_;
  int sleepers_ = 0;
};

/// What a FaultyClock does to the time of the clock it wraps.
struct ClockFaults {
  double rate = 1.0;                        ///< 1.01: this host's clock gains one second in a hundred
  std::chrono::nanoseconds wall_offset{0};  ///< the date is off by this much
};

/// Another clock seen from a host whose oscillator drifts and whose date is wrong.
///
/// Lifetime: the wrapped clock must outlive it.
class FaultyClock final : public Clock {
 public:
  FaultyClock(Clock& inner, ClockFaults faults);

  TimePoint now() const override;
  WallTime wall() const override;
  bool sleep_until(TimePoint deadline, std::stop_token stop = {}) override;

  /// The date jumps, as after a time server's correction; now() is not touched.
  void jump_wall(std::chrono::nanoseconds by);

 private:
  Clock& inner_;
  const double rate_;
  const TimePoint start_;
  mutable std::mutex mutex_;
  std::chrono::nanoseconds wall_offset_;
};

}  // namespace cohort

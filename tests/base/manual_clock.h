#pragma once

#include "base/clock.h"

#include <mutex>

namespace cohort {

/// A clock that stands still until advance() moves it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint start = TimePoint{}, WallTime wall = WallTime{})
      : now_(start), wall_(wall) {}

  TimePoint now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }

  WallTime wall() const override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }

  void advance(std::chrono::nanoseconds by) {
    const std::lock_guard lock(mutex_);
    now_ += by;
    wall_ += std::chrono::duration_cast<WallTime::duration>(by);
  }

 private:
  mutable std::mutex mutex_;
  TimePoint now_;
  WallTime wall_;
};

}  // namespace cohort

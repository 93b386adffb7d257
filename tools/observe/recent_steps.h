#pragma once

#include "observe/step_log.h"

#include <deque>

namespace cohort::observe {

/// The steps of the last few seconds of training, for current speeds.
///
/// Threads: one at a time.
/// Cost: a record in memory for each step of the window.
class RecentSteps {
 public:
  /// Keeps the last steps that together took no more than `window_seconds`, and at least one step.
  explicit RecentSteps(double window_seconds = 10) : window_seconds_(window_seconds) {}

  void add(const StepReport& record);

  // All of these are 0 before the first step.
  double samples_per_second() const;
  double seconds_per_step() const;
  double communication_share() const;
  double stall_share() const;

 private:
  struct Times {
    double samples = 0;
    double seconds = 0;
    double communication_seconds = 0;
    double stall_seconds = 0;

    Times& operator+=(const Times& other);
  };
  Times sum() const;

  double window_seconds_;
  std::deque<Times> steps_;
  double seconds_ = 0;  // of all steps in the window
};

}  // namespace cohort::observe

#pragma once

#include "solve/step_search.h"

namespace cohort::solve {

/// Finds the length of a step along a direction, from values and slopes that the caller computes:
///
///     WolfeSearch search({.value = f, .slope = gradient · direction}, first_step);
///     while (search.state() == WolfeSearch::State::kTry) search.tell(value and slope at search.step());
///
/// A step is accepted if it meets the strong Wolfe conditions: value ≤ f + 10⁻⁴ step slope₀ and
/// |slope| ≤ 0.9 |slope₀|. Where values differ by no more than their rounding errors, a slope of at most
/// −(1 − 2 · 10⁻⁴) slope₀ replaces the first condition. The search widens a bracket until it holds such a
/// step, then narrows it, at the minimum of a cubic polynomial. A trial that is NaN or infinite counts as too
/// high.
///
/// Threads: one at a time.
/// Failure: kFailed if no lower place was found, kUnbounded if the function falls for 20 orders of magnitude.
class WolfeSearch final : public StepSearch {
 public:
  /// `start` has step 0 and a slope below 0.
  WolfeSearch(Trial start, double first_step, SearchLimits limits);

  double step() const override { return now_; }
  State state() const override { return state_; }
  void tell(double value, double slope) override;

 private:
  bool is_low_enough(const Trial& trial) const;
  bool is_flat_enough(const Trial& trial) const;
  void widen(const Trial& trial);
  void narrow(const Trial& trial);
  void set_bracket(Trial low, Trial high);
  void choose_in_bracket();
  void settle_for_low();

  const Trial start_;
  const SearchLimits limits_;
  const double farthest_;
  State state_ = State::kTry;
  double now_;
  int num_trials_ = 0;
  bool is_last_ = false;  // step() was tried before, and is accepted if it is found so again
  Trial previous_;        // while the bracket widens: the lower end
  bool has_bracket_ = false;
  Trial low_{};   // the end of the bracket with the lower value
  Trial high_{};  // the other end; its value may be infinite
  bool was_near_end_ = false;
};

}  // namespace cohort::solve

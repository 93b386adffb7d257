#include "solve/step_search.h"

#include "base/check.h"

#include <cmath>

namespace cohort::solve {

void Backtracking::tell(double value, double promised_fall) {
  constexpr double kSufficientShare = 1e-4;
  COHORT_CHECK(state_ == State::kTry);
  ++num_trials_;
  const double noise = limits_.noise * std::abs(start_value_);
  const bool is_downhill = std::isfinite(value) && promised_fall < 0;
  if (is_downhill && value <= start_value_ + kSufficientShare * promised_fall + noise) {
    state_ = State::kAccepted;
  } else if (num_trials_ >= limits_.evaluations) {
    state_ = State::kFailed;
  } else {
    now_ /= 2;
  }
}

void FixedStep::tell(double value, double slope) {
  state_ = std::isfinite(value) && std::isfinite(slope) ? State::kAccepted : State::kFailed;
}

}  // namespace cohort::solve

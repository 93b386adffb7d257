#include "solve/wolfe_search.h"

#include "base/check.h"

#include <algorithm>
#include <cmath>

namespace cohort::solve {
namespace {

constexpr double kSufficientFall = 1e-4;
constexpr double kFlatness = 0.9;
constexpr double kMostWidening = 10;
constexpr double kUnboundedAfter = 1e20;  // times the first step
// The share of a bracket that stays between a trial and both ends, if the last trial was close to an end.
constexpr double kDistance = 0.1;

bool is_finite(const Trial& trial) {
  return std::isfinite(trial.value) && std::isfinite(trial.slope);
}

struct Bounds {
  double least;
  double most;
  double otherwise;
};

// The minimum of the cubic polynomial with these values and slopes, or the bound that is closer to it. A
// polynomial may have none.
double cubic_minimum(const Trial& a, const Trial& b, Bounds bounds) {
  const double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return bounds.otherwise;
  const double d2 = b.step > a.step ? std::sqrt(square) : -std::sqrt(square);
  const double share = (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
  const double minimum = b.step - (b.step - a.step) * share;
  return std::isfinite(minimum) ? std::clamp(minimum, bounds.least, bounds.most) : bounds.otherwise;
}

}  // namespace

WolfeSearch::WolfeSearch(Trial start, double first_step, SearchLimits limits)
    : start_(start),
      limits_(limits),
      farthest_(first_step * kUnboundedAfter),
      now_(first_step),
      previous_(start) {
  COHORT_CHECK(start.slope < 0 && first_step > 0, "slope {}, first step {}", start.slope, first_step);
}

bool WolfeSearch::is_low_enough(const Trial& trial) const {
  if (!is_finite(trial)) return false;
  if (trial.value <= start_.value + kSufficientFall * trial.step * start_.slope) return true;
  return std::abs(trial.value - start_.value) <= limits_.noise * std::abs(start_.value) &&
         trial.slope <= (2 * kSufficientFall - 1) * start_.slope;
}

bool WolfeSearch::is_flat_enough(const Trial& trial) const {
  return std::abs(trial.slope) <= -kFlatness * start_.slope;
}

void WolfeSearch::tell(double value, double slope) {
  COHORT_CHECK(state_ == State::kTry);
  const Trial trial{.step = now_, .value = value, .slope = slope};
  ++num_trials_;
  if (is_low_enough(trial) && (is_last_ || is_flat_enough(trial))) {
    state_ = State::kAccepted;
  } else if (is_last_) {
    state_ = State::kFailed;
  } else if (has_bracket_) {
    narrow(trial);
  } else {
    widen(trial);
  }
}

void WolfeSearch::widen(const Trial& trial) {
  const bool is_first = previous_.step == 0;
  if (!is_low_enough(trial) || (!is_first && trial.value >= previous_.value)) {
    return set_bracket(previous_, trial);
  }
  if (trial.slope >= 0) return set_bracket(trial, previous_);
  if (trial.step >= farthest_) {
    state_ = State::kUnbounded;
  } else if (num_trials_ >= limits_.evaluations) {
    state_ = State::kAccepted;
  } else {
    const double least = trial.step + (trial.step - previous_.step) / 100, most = trial.step * kMostWidening;
    now_ = cubic_minimum(previous_, trial, {.least = least, .most = most, .otherwise = most});
    previous_ = trial;
  }
}

void WolfeSearch::narrow(const Trial& trial) {
  if (!is_low_enough(trial) || trial.value >= low_.value) return set_bracket(low_, trial);
  const bool passes_minimum = trial.slope * (high_.step - low_.step) >= 0;
  set_bracket(trial, passes_minimum ? low_ : high_);
}

void WolfeSearch::set_bracket(Trial low, Trial high) {
  has_bracket_ = true;
  low_ = low;
  high_ = high;
  const double width = std::abs(high.step - low.step);
  const bool is_narrow = width <= 1e-15 * std::max(low.step, high.step) || width < 1e-300;
  if (num_trials_ >= limits_.evaluations || is_narrow) return settle_for_low();
  choose_in_bracket();
}

// A minimum next to an end narrows the bracket too little: after two such trials in a row the next one keeps
// a distance.
void WolfeSearch::choose_in_bracket() {
  const double least = std::min(low_.step, high_.step), most = std::max(low_.step, high_.step);
  if (!is_finite(high_)) {
    now_ = low_.step + kDistance * (high_.step - low_.step);
    return;
  }
  now_ = cubic_minimum(low_, high_, {.least = least, .most = most, .otherwise = (least + most) / 2});
  const double margin = kDistance * (most - least);
  const bool is_near_end = std::min(most - now_, now_ - least) < margin;
  if (is_near_end && (was_near_end_ || now_ <= least || now_ >= most)) {
    now_ = now_ - least < most - now_ ? least + margin : most - margin;
    was_near_end_ = false;
  } else {
    was_near_end_ = is_near_end;
  }
}

// The gradient of the best trial may be gone: it is evaluated again.
void WolfeSearch::settle_for_low() {
  if (low_.step == 0) {
    state_ = State::kFailed;
  } else if (low_.step == now_) {
    state_ = State::kAccepted;
  } else {
    now_ = low_.step;
    is_last_ = true;
  }
}

}  // namespace cohort::solve

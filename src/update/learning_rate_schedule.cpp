#include <cohort/learning_rate_schedule.h>

#include "base/check.h"
#include "update/curves.h"

#include <cmath>

namespace cohort {
namespace {

// The part of the learning rate in step `step` of the warm-up, and 1 from its end on.
double warmup_factor(const WarmUp& warmup, std::int64_t step) {
  if (step >= warmup.steps) return 1;
  const auto part = static_cast<double>(step) / static_cast<double>(warmup.steps);
  switch (warmup.shape) {
    case WarmUp::Shape::kLinear:
      if (warmup.start_factor) return *warmup.start_factor + (1 - *warmup.start_factor) * part;
      return static_cast<double>(step + 1) / static_cast<double>(warmup.steps);
    case WarmUp::Shape::kConstant:
      return warmup.start_factor.value_or(1.0 / 3);
    case WarmUp::Shape::kExponential:
      return std::pow(warmup.start_factor.value_or(0.01), 1 - part);
  }
  return 1;
}

std::int64_t after_warmup(const LearningRateSchedule& schedule, std::int64_t step) {
  COHORT_CHECK_GE(step, 0);
  return std::max<std::int64_t>(step - schedule.warmup.steps, 0);
}

}  // namespace

double learning_rate_at(const LearningRateSchedule& schedule, double learning_rate, std::int64_t step,
                        const PlateauState& plateau) {
  const std::int64_t t = after_warmup(schedule, step);
  return learning_rate::rate_of(schedule.curve, {learning_rate, t, plateau}) *
         warmup_factor(schedule.warmup, step);
}

std::optional<double> momentum_at(const LearningRateSchedule& schedule, std::int64_t step) {
  const std::int64_t t = after_warmup(schedule, step);
  const auto* const cycle = std::get_if<learning_rate::OneCycle>(&schedule.curve);
  if (cycle == nullptr || !cycle->cycle_momentum) return std::nullopt;
  return learning_rate::momentum_of(*cycle, t);
}

double batch_factor(const BatchScaling& scaling, std::int64_t batch_size) {
  if (scaling.rule == BatchScaling::Rule::kNone) return 1;
  const double ratio = static_cast<double>(batch_size) / static_cast<double>(scaling.base_batch_size);
  return scaling.rule == BatchScaling::Rule::kLinear ? ratio : std::sqrt(ratio);
}

}  // namespace cohort

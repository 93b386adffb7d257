#include <cohort/learning_rate_schedule.h>

#include "base/check.h"

#include <cmath>
#include <numbers>

namespace cohort {
namespace {

double after_warmup(const LearningRateSchedule& schedule, double learning_rate, std::int64_t step) {
  const auto periods = static_cast<double>(step) / static_cast<double>(schedule.step_size);
  switch (schedule.kind) {
    case LearningRateScheduleKind::kConstant:
      return learning_rate;
    case LearningRateScheduleKind::kStep:
      return learning_rate * std::pow(schedule.gamma, std::floor(periods));
    case LearningRateScheduleKind::kExponential:
      return learning_rate * std::pow(schedule.gamma, periods);
    case LearningRateScheduleKind::kCosine: {
      if (step >= schedule.t_max) return schedule.eta_min;
      const double angle =
          std::numbers::pi * (static_cast<double>(step) / static_cast<double>(schedule.t_max));
      return schedule.eta_min + (learning_rate - schedule.eta_min) * ((1 + std::cos(angle)) / 2);
    }
  }
  return learning_rate;
}

}  // namespace

double learning_rate_at(const LearningRateSchedule& schedule, double learning_rate, std::int64_t step) {
  COHORT_CHECK_GE(step, 0);
  COHORT_CHECK_GE(schedule.step_size, 1);
  if (step >= schedule.warmup_steps) {
    return after_warmup(schedule, learning_rate, step - schedule.warmup_steps);
  }
  return learning_rate * static_cast<double>(step + 1) / static_cast<double>(schedule.warmup_steps);
}

}  // namespace cohort

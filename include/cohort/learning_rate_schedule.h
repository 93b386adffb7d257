#pragma once

#include <cohort/export.h>

#include <cstdint>

namespace cohort {

enum class LearningRateScheduleKind { kConstant, kStep, kExponential, kCosine };

/// How the learning rate changes with the step. With η the learning rate of the optimizer, it first rises
/// linearly: in step s < `warmup_steps` it is η(s+1)/`warmup_steps`. Then, with t = s - `warmup_steps`:
///
///   constant      η
///   step          η·gammaᵏ with k = ⌊t/step_size⌋
///   exponential   η·gammaˣ with x = t/step_size
///   cosine        from η down to `eta_min` at t = `t_max`, along half a cosine; `eta_min` from then on
struct LearningRateSchedule {
  LearningRateScheduleKind kind = LearningRateScheduleKind::kConstant;
  std::int64_t warmup_steps = 0;
  std::int64_t step_size = 1;  ///< steps
  double gamma = 0.1;
  std::int64_t t_max = 1;  ///< steps
  double eta_min = 0;
};

/// The learning rate of a step, for an optimizer with this learning rate. Steps count from 0.
COHORT_EXPORT double learning_rate_at(const LearningRateSchedule& schedule, double learning_rate,
                                      std::int64_t step);

}  // namespace cohort

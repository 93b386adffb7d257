#pragma once

#include <cohort/export.h>

#include <cstdint>

namespace cohort {

enum class ScheduleKind { kConstant, kStep, kExponential, kCosine };

/// How the learning rate η changes with the step. First a linear warm-up: in step s < w it is η(s+1)/w. Then,
/// with t = s - w and n = `period_steps`:
///
///   constant      η
///   step          η·factorᵏ with k = ⌊t/n⌋
///   exponential   η·factorˣ with x = t/n
///   cosine        from η down to `final_learning_rate` at t = n, along half a cosine, and there it stays
struct Schedule {
  ScheduleKind kind = ScheduleKind::kConstant;
  double learning_rate = 0.05;
  std::int64_t warmup_steps = 0;
  std::int64_t period_steps = 1;
  double factor = 1;
  double final_learning_rate = 0;
};

/// The learning rate of a step; steps count from 0.
COHORT_EXPORT double learning_rate(const Schedule& schedule, std::int64_t step);

}  // namespace cohort

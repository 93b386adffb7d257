#pragma once

#include "base/result.h"
#include <cohort/learning_rate_schedule.h>
#include <cohort/optimizer.h>

#include <string>

namespace cohort {

/// Failure: kUsage for a setting that makes no sense, naming it.
Status check_schedule(const LearningRateSchedule& schedule);

/// All settings, to compare schedules: `warmup linear steps=10, one-cycle total_steps=100 …`
std::string text_of(const LearningRateSchedule& schedule);

}  // namespace cohort

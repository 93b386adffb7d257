#pragma once

#include "config/config.h"
#include <cohort/learning_rate_schedule.h>

#include <cstdint>

namespace cohort::job {

/// The section [schedule] as an option of the library. load() has checked its values. Numbers of steps that
/// are not set follow from `run_steps`, the number of steps of the whole run.
LearningRateSchedule make_learning_rate_schedule(const ScheduleConfig& config, std::int64_t run_steps);

}  // namespace cohort::job

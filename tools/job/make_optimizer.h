#pragma once

#include "config/config.h"
#include <cohort/learning_rate_schedule.h>
#include <cohort/optimizer.h>

namespace cohort::job {

// The sections of a job file as options of the library. load() has checked their values.

OptimizerSettings make_optimizer(const OptimizerConfig& config);

/// `run_steps` is the number of steps of the whole run: a cosine without schedule.t_max ends with it.
LearningRateSchedule make_learning_rate_schedule(const ScheduleConfig& config, std::int64_t run_steps);

}  // namespace cohort::job

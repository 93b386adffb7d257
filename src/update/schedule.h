#pragma once

#include "base/result.h"
#include "config/config.h"
#include <cohort/schedule.h>

namespace cohort {

/// The same curve for parameters whose full learning rate is another one.
Schedule scaled_to(const Schedule& schedule, double learning_rate);

/// Failure: kUsage, naming the key.
Result<Schedule> make_schedule(const UpdateConfig& config);

}  // namespace cohort

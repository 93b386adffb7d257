#pragma once

#include "config/config.h"
#include <cohort/optimizer.h>

namespace cohort::job {

/// The section [optimizer] as an option of the library. load() has checked its values.
OptimizerSettings make_optimizer(const OptimizerConfig& config);

}  // namespace cohort::job

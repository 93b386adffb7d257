#pragma once

#include "config/config.h"
#include <cohort/optimizer.h>
#include <cohort/solver_settings.h>

#include <optional>

namespace cohort::job {

/// The section [optimizer] as an option of the library. load() has checked its values.
OptimizerSettings make_optimizer(const OptimizerConfig& config);

/// The same for a solver; nothing if the job names an optimizer.
std::optional<SolverSettings> make_solver(const OptimizerConfig& config);

/// False for a solver that finds the length of its steps itself.
bool has_schedule(const OptimizerConfig& config);

}  // namespace cohort::job

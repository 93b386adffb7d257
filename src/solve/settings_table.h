#pragma once

#include "base/result.h"
#include <cohort/solver_settings.h>

#include <string>
#include <string_view>
#include <vector>

namespace cohort {

/// A setting of a solver, under its name in job files.
struct SolverSetting {
  std::string_view name{};
  double value = 0;
};

/// The settings that the solver uses, but for those that are words.
std::vector<SolverSetting> used_settings(const SolverSettings& settings);

/// The solvers that use a setting, by name: `history_size` and `line_search` are for lbfgs and owlqn.
std::vector<std::string> solvers_using(std::string_view setting);

/// The vectors of which each rank keeps a slice, with one for the gradient that is told.
int num_vectors(const SolverSettings& settings);

/// Whether every setting is inside its range, and none is set that the solver has no use for.
///
/// Failure: kUsage; the message names `SolverSettings::history_size`.
Status check_settings(const SolverSettings& settings);

}  // namespace cohort

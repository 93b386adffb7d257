#pragma once

#include "train/parameter_vector.h"
#include <cohort/trainer.h>

#include <vector>

namespace cohort::train {

/// Failure: throws UsageError for options of a trainer with a solver that exclude each other, or have no
/// effect.
void check_solver_options(const TrainerOptions& options);

/// Failure: throws UsageError for a module that a solver cannot train: with batch normalisation over ranks.
void check_solver_module(const TrainerOptions& options, const torch::nn::Module& module);

/// The penalties of the parameters that are trained, by the settings and the groups.
std::vector<ParameterPenalty> penalties_of(const TrainerOptions& options,
                                           const std::vector<NamedTensor>& parameters);

}  // namespace cohort::train

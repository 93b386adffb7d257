#pragma once

#include "checkpoint/optimizer_group.h"
#include "train/module_tensors.h"
#include "train/sharded_update.h"

#include <span>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace cohort::train {

/// The parameters that Cohort's optimizer updates with the same settings, with their learning rate in the
/// last step. `parameters` are those of the update.
std::vector<checkpoint::OptimizerGroup> optimizer_groups(const ShardedUpdate& update,
                                                         std::span<const NamedTensor> parameters);

/// The groups of an optimizer of torch whose parameters are among the tensors; none for an optimizer whose
/// settings are not known.
std::vector<checkpoint::OptimizerGroup> optimizer_groups(const torch::optim::Optimizer& optimizer,
                                                         const ModuleTensors& tensors);

}  // namespace cohort::train

#pragma once

#include "comm/group/communicator.h"
#include "train/torch_optimizer.h"
#include <cohort/trainer.h>

namespace cohort::train {

/// Checks, on all ranks together, that all ranks are about to train the same way: the settings that change
/// the result, and the sizes and three samples of the data sets. `test` and `torch_optimizer` may
/// be null.
///
/// Failure: throws UsageError on all ranks, naming what differs, where, and both values.
/// Cost: one collective call, and reading three samples of each data set.
void check_same_training(Communicator& group, const TrainerOptions& options, const Dataset& train,
                         const Dataset* test, const TorchOptimizer* torch_optimizer);

}  // namespace cohort::train

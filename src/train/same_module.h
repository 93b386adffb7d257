#pragma once

#include "comm/communicator.h"
#include "train/parameters.h"

namespace cohort::train {

/// All ranks must have built the same module: names, sizes, strides and types of its tensors, in the same
/// order. Failure: throws UsageError, naming the ranks whose module is another than that of most.
void check_same_module(Communicator& group, const ModuleTensors& tensors);

}  // namespace cohort::train

#pragma once

#include "comm/group/communicator.h"
#include "train/module_tensors.h"
#include "train/post_steps.h"

namespace cohort::train {

/// The masks that the options ask for, as rank 0 decides them from its parameters, or reads them. All ranks
/// call this together, with the tensors of the same module.
///
/// Failure: throws UsageError, also for a file with a tensor that no parameter has, of another shape, or with
/// numbers besides 0 and 1; and for options that mask no parameter.
/// Cost: a byte for each element of the model.
ParameterMasks make_masks(Communicator& group, const ModuleTensors& tensors, const MaskOptions& options);

/// Sets the masked elements of the parameters to zero.
void hold_at_zero(const ModuleTensors& tensors, const ParameterMasks& masks);

}  // namespace cohort::train

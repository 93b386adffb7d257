#pragma once

#include "comm/group/communicator.h"
#include "train/module_tensors.h"
#include "train/post_steps.h"

namespace cohort::train {

/// Whether the options ask for masks.
bool asks_for_masks(const MaskOptions& options);

/// The masks that the options ask for, from these parameters or from the file.
///
/// Failure: throws UsageError for a file with a tensor that no parameter has, of another shape, or with numbers
/// besides 0 and 1; and for options that mask no parameter.
/// Cost: a byte for each masked element.
ParameterMasks masks_of(const ModuleTensors& tensors, const MaskOptions& options);

/// The masks_of() rank 0, on all ranks, which call this together with the tensors of the same module.
ParameterMasks make_masks(Communicator& group, const ModuleTensors& tensors, const MaskOptions& options);

/// Sets the masked elements of the parameters to zero.
void hold_at_zero(const ModuleTensors& tensors, const ParameterMasks& masks);

}  // namespace cohort::train

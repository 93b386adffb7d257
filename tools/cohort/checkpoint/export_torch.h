#pragma once

#include "checkpoint/export.h"

namespace cohort::tool {

/// Writes a state dict of these tensors, which torch.load(path, weights_only=True) reads.
///
/// Failure: kAlreadyExists; kUsage for the state of an optimizer, whose settings a snapshot does not have; as
/// interchange::write_torch_file().
/// Cost: memory as WholeTensors::stream().
Status export_torch(const checkpoint::Export& to, const checkpoint::TensorList& tensors);

}  // namespace cohort::tool

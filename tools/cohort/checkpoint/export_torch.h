#pragma once

#include "checkpoint/export.h"

namespace cohort::tool {

/// Writes a state dict of these tensors, which torch.load(path, weights_only=True) reads; with state of an
/// optimizer, a dictionary with `model_state_dict`, `optimizer_state_dict`, `step` and `epoch`.
///
/// Failure: kAlreadyExists; as OptimizerTensors and interchange::write_torch_file().
/// Cost: memory as WholeTensors::stream().
Status export_torch(const checkpoint::Export& to, const checkpoint::TensorList& tensors);

}  // namespace cohort::tool

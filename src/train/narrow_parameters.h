#pragma once

#include "train/module_tensors.h"

namespace cohort::train {

/// Makes the parameters that are trained bf16, if they are f32 and have at least two dimensions: others, of
/// biases and normalisation layers, are small, and kernels take them in f32 beside inputs in bf16.
void narrow_parameters(const ModuleTensors& tensors);

}  // namespace cohort::train

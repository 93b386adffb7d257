#pragma once

#include "state/tensor_view.h"

namespace cohort {

/// A hash over names, types, shapes and bytes, in order, as 16 hexadecimal digits: equal for two models that
/// hold the same. Not cryptographic.
std::string parameters_hash(std::span<const TensorView> tensors);

}  // namespace cohort

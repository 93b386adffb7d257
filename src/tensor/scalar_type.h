#pragma once

#include "base/result.h"

#include <ATen/core/Tensor.h>
#include <cohort/dtype.h>

namespace cohort {

/// Between Cohort's and torch's name of a kind of number.
/// Failure: kUsage for one Cohort does not carry.
Result<DType> dtype_of(at::ScalarType type);
at::ScalarType scalar_type_of(DType dtype);

}  // namespace cohort

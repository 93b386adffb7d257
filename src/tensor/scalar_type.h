#pragma once

#include "base/result.h"

#include <ATen/core/Tensor.h>
#include <cohort/dtype.h>

namespace cohort {

/// Converts between the element types of Cohort and torch.
///
/// Failure: kUsage for a type that Cohort does not support.
Result<DType> dtype_of(at::ScalarType type);
at::ScalarType scalar_type_of(DType dtype);

}  // namespace cohort

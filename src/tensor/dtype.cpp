#include "tensor/scalar_type.h"

#include <cohort/tensor.h>
#include <fmt/format.h>

namespace cohort {

at::ScalarType scalar_type_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return at::kFloat;
    case DType::kF64:
      return at::kDouble;
    case DType::kBF16:
      return at::kBFloat16;
    case DType::kF16:
      return at::kHalf;
    case DType::kI8:
      return at::kChar;
    case DType::kI16:
      return at::kShort;
    case DType::kI32:
      return at::kInt;
    case DType::kI64:
      return at::kLong;
    case DType::kU8:
      return at::kByte;
    case DType::kBool:
      return at::kBool;
  }
  throw BugError("a DType without a torch type");
}

Result<DType> dtype_of(at::ScalarType type) {
  for (const DType dtype : kAllDTypes) {
    if (scalar_type_of(dtype) == type) return dtype;
  }
  return Error(ErrorCode::kUsage, fmt::format("tensors of type {} are not supported", at::toString(type)))
      .with_remedy("Convert the tensor first, for example with tensor.to(at::kFloat).");
}

DType dtype_of(const at::Tensor& tensor) {
  return value_or_throw(dtype_of(tensor.scalar_type()));
}

}  // namespace cohort

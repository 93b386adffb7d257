#include "tensor/scalar_type.h"

#include <ATen/ATen.h>
#include <cohort/tensor.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

TEST(TensorDType, IsTheSameSeenFromBothSides) {
  for (const DType dtype : kAllDTypes) {
    const at::Tensor tensor = at::empty({1}, scalar_type_of(dtype));
    EXPECT_EQ(dtype_of(tensor), dtype) << name(dtype);
    EXPECT_EQ(tensor.element_size(), static_cast<std::int64_t>(size_bytes(dtype))) << name(dtype);
    EXPECT_EQ(at::isFloatingType(tensor.scalar_type()), is_floating(dtype)) << name(dtype);
  }
}

TEST(TensorDType, RefusesWhatItDoesNotCarry) {
  EXPECT_THROW(dtype_of(at::empty({1}, at::kComplexFloat)), UsageError);
}

}  // namespace
}  // namespace cohort

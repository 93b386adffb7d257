#pragma once

#include <cohort/dtype.h>
#include <cohort/export.h>
#include <cohort/random.h>

namespace at {
class Tensor;
}

namespace cohort {

/// The DType of a tensor.
/// Failure: throws UsageError for a scalar type without DType, such as complex numbers.
COHORT_EXPORT DType dtype_of(const at::Tensor& tensor);

/// Fills a floating-point tensor with uniform numbers from [low, high): the element at row-major position i
/// gets the i-th number of the stream, so every rank, thread count and memory layout gives the same bits.
///
///     cohort::fill_uniform(weight, cohort::RandomStream(seed, layer), -bound, bound);
///
/// Failure: throws UsageError unless the tensor is a floating-point tensor in CPU memory.
COHORT_EXPORT void fill_uniform(at::Tensor& tensor, const RandomStream& stream, double low, double high);

/// Like fill_uniform(), with normally distributed numbers.
COHORT_EXPORT void fill_normal(at::Tensor& tensor, const RandomStream& stream, double mean, double deviation);

}  // namespace cohort

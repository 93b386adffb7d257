#pragma once

#include <ATen/core/Tensor.h>
#include <vector>

namespace cohort::predict {

/// The numbers as a tensor that broadcasts over batches of samples with `sample_dims` dimensions: a single
/// number applies to all inputs, several numbers to one element each of the first dimension of a sample.
at::Tensor along_first_dim(const std::vector<double>& numbers, std::size_t sample_dims);

}  // namespace cohort::predict

#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <memory>
#include <vector>

namespace cohort::model {

/// The elements that a Dropout drops, as the key of a random stream instead of as bits.
struct DropoutMask {
  std::uint64_t key = 0;  ///< stands for (seed, step, layer)
  double rate = 0;
  std::shared_ptr<const std::vector<std::int64_t>> samples{};
};

/// The key of a layer in a step.
std::uint64_t dropout_key(std::uint64_t seed, std::uint64_t step, std::uint64_t layer);

/// `input` with some elements set to 0 and the others scaled. Differentiable: backward computes the same mask
/// again instead of saving it.
at::Tensor masked(const at::Tensor& input, const DropoutMask& mask);

}  // namespace cohort::model

#pragma once

#include "small_models.h"

#include "comm/group/communicator.h"

#include <vector>

namespace cohort::test {

inline Batch part_of(const Dataset& data, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> samples;
  for (std::int64_t i = first; i < last; ++i) samples.push_back(i);
  return data.batch(samples);
}

/// This rank's part of `samples` samples.
inline Batch share(const Communicator& group, std::int64_t samples) {
  const std::int64_t each = samples / group.size();
  return part_of(WholeNumbers(samples), each * group.rank(), each * (group.rank() + 1));
}

inline at::Tensor mean_square(torch::nn::Linear& layer, const Batch& batch) {
  return (layer->forward(batch.input) - batch.target).square().mean();
}

/// The gradients of all parameters, one after the other.
inline std::vector<float> gradients(const torch::nn::Module& module) {
  std::vector<float> all;
  for (const at::Tensor& p : module.parameters()) {
    const at::Tensor flat = p.grad().contiguous().view(-1);
    all.insert(all.end(), flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel());
  }
  return all;
}

/// The gradients that one process would have after the whole batch.
inline std::vector<float> gradients_of_all(std::int64_t samples, int times = 1) {
  const WholeNumbers data(samples);
  auto layer = exact_linear();
  for (int i = 0; i < times; ++i) mean_square(layer, part_of(data, 0, samples)).backward();
  return gradients(*layer);
}

}  // namespace cohort::test

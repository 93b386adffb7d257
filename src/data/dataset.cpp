#include <cohort/dataset.h>

#include <ATen/ATen.h>

namespace cohort {

Dataset::~Dataset() = default;

Batch Dataset::batch(std::span<const std::int64_t> indices) const {
  std::vector<at::Tensor> inputs, targets;
  for (const std::int64_t index : indices) {
    Sample sample = at(index);
    inputs.push_back(std::move(sample.input));
    targets.push_back(std::move(sample.target));
  }
  return {at::stack(inputs), at::stack(targets), {indices.begin(), indices.end()}};
}

}  // namespace cohort

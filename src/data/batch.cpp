#include "data/stack.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cohort/dataset.h>
#include <cohort/error.h>
#include <fmt/format.h>

namespace cohort {
namespace {

NamedTensors list_of(const at::Tensor& input, const at::Tensor& target, const NamedTensors& others) {
  NamedTensors all{{"input", input}, {"target", target}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

at::Tensor named(const NamedTensors& tensors, std::string_view name) {
  std::string names;
  for (const auto& [each, tensor] : tensors) {
    if (each == name) return tensor;
    names += (names.empty() ? "" : ", ") + each;
  }
  throw UsageError(fmt::format("there is no tensor '{}'; there are {}", name, names));
}

}  // namespace

at::Tensor Sample::operator[](std::string_view name) const {
  return named(tensors(), name);
}

NamedTensors Sample::tensors() const {
  return list_of(input, target, others);
}

at::Tensor Batch::operator[](std::string_view name) const {
  return named(tensors(), name);
}

NamedTensors Batch::tensors() const {
  return list_of(input, target, others);
}

Sample Batch::at(std::int64_t row) const {
  Sample sample{input.select(0, row), target.select(0, row)};
  for (const auto& [name, tensor] : others) sample.others.emplace_back(name, tensor.select(0, row));
  return sample;
}

Batch stacked(std::span<const Sample> samples, std::span<const std::int64_t> indices) {
  if (samples.size() != indices.size()) {
    throw UsageError(fmt::format("{} samples have {} indices", samples.size(), indices.size()));
  }
  data::Stack stack(indices.size());
  for (std::size_t i = 0; i < samples.size(); ++i) stack.add(samples[i], indices[i]);
  return std::move(stack).take();
}

}  // namespace cohort

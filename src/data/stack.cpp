#include "data/stack.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cohort/error.h>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::data {
namespace {

std::string shape_and_type(at::IntArrayRef sizes, at::ScalarType type) {
  return fmt::format("{} [{}]", at::toString(type), fmt::join(sizes, ", "));
}

std::vector<std::string> names_of(const NamedTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

[[noreturn]] void refuse_sample(std::string what, const char* remedy) {
  throw UsageError(UsageError(std::move(what)).with_remedy(remedy));
}

void check_names(const std::vector<std::string>& names, std::int64_t index) {
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) == name) continue;
    refuse_sample(fmt::format("sample {} has two tensors with the name '{}'", index, *name),
                  "Give each tensor a name of its own, other than input and target.");
  }
}

void check_in_memory(const at::Tensor& tensor, const std::string& name, std::int64_t index) {
  if (tensor.defined() && tensor.device().is_cpu() && tensor.layout() == at::kStrided) return;
  throw UsageError(fmt::format("the {} of sample {} is not a dense tensor in CPU memory", name, index));
}

}  // namespace

void Stack::begin(const NamedTensors& first, std::int64_t index) {
  check_names(names_of(first), index);
  for (const auto& [name, tensor] : first) {
    check_in_memory(tensor, name, index);
    std::vector<std::int64_t> shape{count_};
    shape.insert(shape.end(), tensor.sizes().begin(), tensor.sizes().end());
    rows_.push_back({name, at::empty(shape, at::TensorOptions().dtype(tensor.scalar_type()))});
  }
}

void Stack::add(const Sample& sample, std::int64_t index) {
  const NamedTensors tensors = sample.tensors();
  if (indices_.empty()) begin(tensors, index);
  const bool has_the_names =
      std::equal(tensors.begin(), tensors.end(), rows_.begin(), rows_.end(),
                 [](const auto& tensor, const Rows& rows) { return tensor.first == rows.name; });
  if (!has_the_names) {
    std::vector<std::string> expected;
    for (const Rows& rows : rows_) expected.push_back(rows.name);
    refuse_sample(fmt::format("sample {} has the tensors {}, the first sample in its batch has {}", index,
                              fmt::join(names_of(tensors), ", "), fmt::join(expected, ", ")),
                  "Give all samples of a data set tensors of the same names, in the same order.");
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) copy(tensors[i].second, rows_[i], index);
  indices_.push_back(index);
}

void Stack::copy(const at::Tensor& tensor, const Rows& rows, std::int64_t index) const {
  check_in_memory(tensor, rows.name, index);
  const at::IntArrayRef expected = rows.all.sizes().slice(1);
  if (tensor.sizes() != expected || tensor.scalar_type() != rows.all.scalar_type()) {
    refuse_sample(fmt::format("the {} of sample {} is {}, that of the first sample in its batch is {}",
                              rows.name, index, shape_and_type(tensor.sizes(), tensor.scalar_type()),
                              shape_and_type(expected, rows.all.scalar_type())),
                  "Give all samples of a data set the same shape and type.");
  }
  const at::Tensor plain = tensor.contiguous();
  std::memcpy(static_cast<char*>(rows.all.mutable_data_ptr()) + indices_.size() * plain.nbytes(),
              plain.const_data_ptr(), plain.nbytes());
}

Batch Stack::take() && {
  Batch batch;
  batch.samples = std::move(indices_);
  if (rows_.empty()) return batch;
  batch.input = std::move(rows_[0].all);
  batch.target = std::move(rows_[1].all);
  for (std::size_t i = 2; i < rows_.size(); ++i) {
    batch.others.emplace_back(std::move(rows_[i].name), std::move(rows_[i].all));
  }
  return batch;
}

}  // namespace cohort::data

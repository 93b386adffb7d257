#include "base/check.h"

#include <ATen/ATen.h>
#include <cohort/dataset.h>
#include <cohort/error.h>
#include <cstring>
#include <fmt/format.h>

namespace cohort {
namespace {

std::string shown(const at::Tensor& tensor) {
  std::string text = fmt::format("{} [", at::toString(tensor.scalar_type()));
  for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
    text += (dim > 0 ? ", " : "") + std::to_string(tensor.size(dim));
  }
  return text + "]";
}

// Copies tensors into the rows of one tensor, on this thread alone: torch's threads belong to the model.
class Stack {
 public:
  Stack(const char* what, std::size_t count) : what_(what), count_(static_cast<std::int64_t>(count)) {}

  void add(const at::Tensor& tensor, std::int64_t index) {
    if (!tensor.defined() || !tensor.device().is_cpu()) {
      throw UsageError(fmt::format("the {} of sample {} is not a tensor in CPU memory", what_, index));
    }
    if (next_ == 0) begin(tensor);
    if (tensor.sizes() != first_.sizes() || tensor.scalar_type() != first_.scalar_type()) {
      throw UsageError(
          Error(ErrorCode::kUsage,
                fmt::format("the {} of sample {} is {}, that of the first sample in its batch is {}", what_,
                            index, shown(tensor), shown(first_)))
              .with_remedy("Give all samples of a data set the same shape and type."));
    }
    const at::Tensor plain = tensor.contiguous();
    std::memcpy(static_cast<char*>(all_.mutable_data_ptr()) + next_ * plain.nbytes(), plain.const_data_ptr(),
                plain.nbytes());
    ++next_;
  }

  at::Tensor take() && { return std::move(all_); }

 private:
  void begin(const at::Tensor& tensor) {
    first_ = tensor;
    std::vector<std::int64_t> shape{count_};
    shape.insert(shape.end(), tensor.sizes().begin(), tensor.sizes().end());
    all_ = at::empty(shape, at::TensorOptions().dtype(tensor.scalar_type()));
  }

  const char* what_;
  const std::int64_t count_;
  std::size_t next_ = 0;
  at::Tensor first_;
  at::Tensor all_;
};

}  // namespace

Dataset::~Dataset() = default;

Batch Dataset::batch(std::span<const std::int64_t> indices) const {
  Stack inputs("input", indices.size());
  Stack targets("target", indices.size());
  for (std::int64_t index : indices) {
    const Sample sample = at(index);
    inputs.add(sample.input, index);
    targets.add(sample.target, index);
  }
  return {std::move(inputs).take(), std::move(targets).take(), {indices.begin(), indices.end()}};
}

}  // namespace cohort

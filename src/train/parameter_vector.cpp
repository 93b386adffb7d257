#include "train/parameter_vector.h"

#include "layout/slice.h"
#include "solve/slices.h"
#include "tensor/scalar_type.h"
#include "train/tensor_pieces.h"
#include <cohort/error.h>
#include <cohort/tensor.h>

#include <ATen/ATen.h>
#include <algorithm>
#include <fmt/format.h>

namespace cohort::train {
namespace {

std::size_t count_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel());
}

DType common_type(const std::vector<NamedTensor>& parameters) {
  constexpr const char* kRemedy = "Convert the module before: module->to(torch::kFloat) or torch::kDouble.";
  if (parameters.empty()) {
    throw UsageError(
        UsageError("the module has no parameter to train").with_remedy("Register one, or unfreeze one."));
  }
  const at::ScalarType type = parameters.front().tensor.scalar_type();
  for (const NamedTensor& named : parameters) {
    (void)whole_piece(named.name, named.tensor);  // refuses gaps and other devices
    const at::ScalarType found = named.tensor.scalar_type();
    if (found == type && (type == at::kFloat || type == at::kDouble)) continue;
    throw UsageError(
        UsageError(fmt::format("parameter '{}' is {}, and a solver requires parameters that are all "
                               "f32 or all f64",
                               named.name, at::toString(found)))
            .with_remedy(kRemedy));
  }
  return type == at::kFloat ? DType::kF32 : DType::kF64;
}

}  // namespace

ParameterVector::ParameterVector(std::vector<NamedTensor> parameters, int rank, int world)
    : parameters_(std::move(parameters)), tensors_(plain(parameters_)), dtype_(common_type(parameters_)) {
  std::size_t count = 0;
  for (const at::Tensor& tensor : tensors_) {
    firsts_.push_back(count);
    count += (count_of(tensor) + solve::kBlock - 1) / solve::kBlock * solve::kBlock;
  }
  slice_count_ = solve::slice_length(count, world);
  slice_first_ = slice_count_ * static_cast<std::size_t>(rank);
  const auto padded = static_cast<std::int64_t>(slice_count_) * world;
  vector_ = at::zeros({padded}, scalar_type_of(dtype_));
  sum_ = at::zeros({padded}, at::kDouble);
  views_ = views_of(vector_);
  sum_views_ = views_of(sum_);
}

std::vector<at::Tensor> ParameterVector::views_of(const at::Tensor& flat) const {
  std::vector<at::Tensor> views;
  for (std::size_t p = 0; p < tensors_.size(); ++p) {
    views.push_back(
        flat.as_strided(tensors_[p].sizes(), tensors_[p].strides(), static_cast<std::int64_t>(firsts_[p])));
  }
  return views;
}

Numbers ParameterVector::all() const {
  return {vector_.data_ptr(), count_of(vector_), dtype_};
}

Numbers ParameterVector::own() const {
  return all().slice(slice_first_, slice_count_);
}

void ParameterVector::read() {
  const at::NoGradGuard no_grad;
  for (std::size_t p = 0; p < tensors_.size(); ++p) views_[p].copy_(tensors_[p]);
}

void ParameterVector::read_sum() {
  const at::NoGradGuard no_grad;
  vector_.copy_(sum_);
}

void ParameterVector::write() const {
  const at::NoGradGuard no_grad;
  for (std::size_t p = 0; p < tensors_.size(); ++p) tensors_[p].copy_(views_[p]);
}

void ParameterVector::clear_sum() {
  sum_.zero_();
}

void ParameterVector::add(std::size_t parameter, const at::Tensor& gradient) {
  if (!gradient.defined()) return;
  const at::NoGradGuard no_grad;
  sum_views_[parameter].add_(gradient.is_sparse() ? gradient.to_dense() : gradient);
}

ParameterVector::Part ParameterVector::own_part(std::size_t parameter) const {
  const std::size_t first = std::max(firsts_[parameter], slice_first_);
  const std::size_t last =
      std::min(firsts_[parameter] + count_of(tensors_[parameter]), slice_first_ + slice_count_);
  if (last <= first) return {};
  return {.from = first - firsts_[parameter], .first = first - slice_first_, .count = last - first};
}

std::vector<solve::Penalty> ParameterVector::penalties(
    const std::vector<ParameterPenalty>& by_parameter) const {
  std::vector<solve::Penalty> all;
  for (std::size_t p = 0; p < tensors_.size(); ++p) {
    const Part part = own_part(p);
    const ParameterPenalty& penalty = by_parameter[p];
    if (part.count == 0 || (penalty.l1 == 0 && penalty.l2 == 0)) continue;
    all.push_back({.first = part.first, .count = part.count, .l1 = penalty.l1, .l2 = penalty.l2});
  }
  return all;
}

void ParameterVector::visit(const std::string& name, Numbers slice, const StateVisitor& visitor) const {
  for (std::size_t p = 0; p < tensors_.size(); ++p) {
    const Part part = own_part(p);
    if (part.count == 0) continue;
    const at::Tensor& tensor = tensors_[p];
    const Shape shape(tensor.sizes().begin(), tensor.sizes().end());
    std::vector<std::size_t> order = order_in_memory(tensor);
    const Numbers numbers = slice.slice(part.first, part.count);
    visitor({.name = fmt::format("{}/{}", parameters_[p].name, name),
             .dtype = dtype_,
             .shape = shape,
             .mine = flat_range(shape_in_memory(shape, order), part.from, part.count),
             .bytes = {numbers.data, numbers.size_bytes()},
             .order = std::move(order)});
  }
}

std::size_t ParameterVector::size_bytes() const {
  return vector_.nbytes() + sum_.nbytes();
}

}  // namespace cohort::train

#include "train/tensor_pieces.h"

#include "layout/slice.h"
#include "tensor/scalar_type.h"
#include <cohort/error.h>
#include <cohort/tensor.h>

#include <ATen/core/Tensor.h>
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace cohort::train {

std::vector<std::size_t> order_in_memory(const at::Tensor& tensor) {
  if (tensor.is_contiguous()) return {};
  std::vector<std::size_t> order(static_cast<std::size_t>(tensor.dim()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tensor.stride(static_cast<std::int64_t>(a)) > tensor.stride(static_cast<std::int64_t>(b));
  });
  return order;
}

Shape shape_in_memory(const Shape& shape, const std::vector<std::size_t>& order) {
  if (order.empty()) return shape;
  Shape turned;
  for (const std::size_t dimension : order) turned.push_back(shape[dimension]);
  return turned;
}

Piece whole_piece(std::string name, const at::Tensor& tensor, Merge merge) {
  const bool has_gaps = !tensor.is_non_overlapping_and_dense();
  if (!tensor.device().is_cpu() || has_gaps) {
    throw UsageError(
        UsageError(
            fmt::format("'{}' cannot be visited: expected a tensor in CPU memory without gaps, found one "
                        "on {}{}",
                        name, tensor.device().str(), has_gaps ? " with gaps" : ""))
            .with_remedy("Make it contiguous, or move it with module->to(torch::kCPU), before the optimizer "
                         "is made."));
  }
  const Shape shape(tensor.sizes().begin(), tensor.sizes().end());
  std::vector<std::size_t> order = order_in_memory(tensor);
  return {.name = std::move(name),
          .dtype = dtype_of(tensor),
          .shape = shape,
          .mine = whole(shape_in_memory(shape, order)),
          .merge = merge,
          .bytes = {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()},
          .order = std::move(order)};
}

Piece number_piece(std::string name, std::int64_t& number) {
  return {.name = std::move(name),
          .dtype = DType::kI64,
          .shape = {},
          .mine = whole({}),
          .bytes = std::as_writable_bytes(std::span(&number, 1))};
}

void visit_module(const ModuleTensors& tensors, const StateVisitor& visitor, PieceMemory parameters) {
  for (const NamedTensor& named : tensors.parameters) {
    Piece piece = whole_piece(named.name, named.tensor);
    piece.memory = parameters;
    visitor(piece);
  }
  for (const NamedTensor& named : tensors.frozen) visitor(whole_piece(named.name, named.tensor));
  for (const NamedTensor& named : tensors.buffers)
    visitor(whole_piece(named.name, named.tensor, Merge::kMean));
  for (const NamedTensor& named : tensors.counters)
    visitor(whole_piece(named.name, named.tensor, Merge::kMax));
}

}  // namespace cohort::train

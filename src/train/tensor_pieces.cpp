#include "train/tensor_pieces.h"

#include "layout/slice.h"
#include "tensor/scalar_type.h"
#include <cohort/error.h>
#include <cohort/tensor.h>

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

namespace cohort::train {

Piece whole_piece(std::string name, const at::Tensor& tensor, Merge merge) {
  if (!tensor.device().is_cpu() || !tensor.is_contiguous()) {
    throw UsageError(
        UsageError(
            fmt::format(
                "'{}' cannot be visited: expected a contiguous tensor in CPU memory, found one on {} {}",
                name, tensor.device().str(), tensor.is_contiguous() ? "" : "that is not contiguous"))
            .with_remedy("Make it contiguous, or move it with module->to(torch::kCPU), before the optimizer "
                         "is made."));
  }
  const Shape shape(tensor.sizes().begin(), tensor.sizes().end());
  return {.name = std::move(name),
          .dtype = dtype_of(tensor),
          .shape = shape,
          .mine = whole(shape),
          .merge = merge,
          .bytes = {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()}};
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

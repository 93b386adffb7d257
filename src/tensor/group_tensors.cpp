#include "base/result.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cohort/context.h>
#include <cohort/tensor.h>
#include <fmt/format.h>

namespace cohort {
namespace {

void check_dense(const at::Tensor& tensor) {
  if (tensor.defined() && tensor.device().is_cpu() && tensor.layout() == at::kStrided) return;
  throw UsageError(UsageError(tensor.defined() ? "the tensor is not a dense tensor in CPU memory"
                                               : "the tensor is undefined")
                       .with_remedy("Give a dense tensor in CPU memory, for example tensor.to(at::kCPU)."));
}

Numbers numbers_of(const at::Tensor& tensor) {
  return {tensor.mutable_data_ptr(), static_cast<std::size_t>(tensor.numel()), dtype_of(tensor)};
}

/// The elements of a tensor as contiguous memory. write_back() copies them to the tensor if it is strided.
class InARow {
 public:
  explicit InARow(const at::Tensor& tensor)
      : tensor_((check_dense(tensor), tensor.detach())), row_(tensor_.contiguous()) {}
  Numbers numbers() const { return numbers_of(row_); }
  const at::Tensor& row() const { return row_; }
  void write_back() const {
    if (row_.data_ptr() != tensor_.data_ptr()) tensor_.copy_(row_);
  }

 private:
  at::Tensor tensor_;
  at::Tensor row_;
};

// A call in the background has no point at which it could copy the result back.
Numbers contiguous_numbers(const at::Tensor& tensor) {
  check_dense(tensor);
  if (tensor.is_contiguous()) return numbers_of(tensor.detach());
  throw UsageError(UsageError("a tensor of a call in the background must be contiguous")
                       .with_remedy("Give tensor.contiguous(), or make the call that waits."));
}

void check_divides(const at::Tensor& tensor, int world) {
  if (tensor.dim() > 0 && tensor.size(0) % world == 0) return;
  throw UsageError(fmt::format("{} ranks cannot share the first dimension of a tensor evenly: its size is {}",
                               world, tensor.dim() == 0 ? 0 : tensor.size(0)));
}

}  // namespace

void Group::all_reduce(const at::Tensor& tensor, ReduceOp op) {
  const InARow row(tensor);
  all_reduce(row.numbers(), op);
  row.write_back();
}

void Group::reduce(const at::Tensor& tensor, int root, ReduceOp op) {
  const InARow row(tensor);
  reduce(ConstNumbers(row.numbers()), row.numbers(), root, op);
  if (rank() == root) row.write_back();
}

void Group::broadcast(const at::Tensor& tensor, int root) {
  const InARow row(tensor);
  broadcast(row.numbers(), root);
  row.write_back();
}

at::Tensor Group::reduce_scatter(const at::Tensor& tensor, ReduceOp op) {
  const InARow row(tensor);
  check_divides(row.row(), size());
  auto sizes = tensor.sizes().vec();
  sizes[0] /= size();
  at::Tensor part = at::empty(sizes, tensor.options().requires_grad(false));
  reduce_scatter(ConstNumbers(row.numbers()), numbers_of(part), op);
  return part;
}

at::Tensor Group::all_gather(const at::Tensor& tensor) {
  const InARow row(tensor);
  auto sizes = tensor.sizes().vec();
  sizes.insert(sizes.begin(), size());
  at::Tensor all = at::empty(sizes, tensor.options().requires_grad(false));
  all_gather(ConstNumbers(row.numbers()), numbers_of(all));
  return all;
}

at::Tensor Group::all_to_all(const at::Tensor& tensor) {
  const InARow row(tensor);
  check_divides(row.row(), size());
  at::Tensor got = at::empty(tensor.sizes(), tensor.options().requires_grad(false));
  all_to_all(ConstNumbers(row.numbers()), numbers_of(got));
  return got;
}

at::Tensor Group::part_of(const at::Tensor& tensor) const {
  if (tensor.dim() == 0) throw UsageError("a tensor without dims has no parts");
  const std::int64_t rows = tensor.size(0), ranks = size(), mine = rank();
  const std::int64_t first = mine * (rows / ranks) + std::min(mine, rows % ranks);
  return tensor.narrow(0, first, rows / ranks + (mine < rows % ranks ? 1 : 0));
}

void Group::send(const at::Tensor& tensor, int to, std::uint32_t tag) {
  send(ConstNumbers(InARow(tensor).numbers()), to, tag);
}

void Group::recv(const at::Tensor& tensor, int from, std::uint32_t tag) {
  const InARow row(tensor);
  recv(row.numbers(), from, tag);
  row.write_back();
}

Work Group::async_all_reduce(const at::Tensor& tensor, ReduceOp op) {
  return keeping(async_all_reduce(contiguous_numbers(tensor), op), std::make_shared<at::Tensor>(tensor));
}

Work Group::async_broadcast(const at::Tensor& tensor, int root) {
  return keeping(async_broadcast(contiguous_numbers(tensor), root), std::make_shared<at::Tensor>(tensor));
}

Work Group::async_send(const at::Tensor& tensor, int to, std::uint32_t tag) {
  return keeping(async_send(ConstNumbers(contiguous_numbers(tensor)), to, tag),
                 std::make_shared<at::Tensor>(tensor));
}

Work Group::async_recv(const at::Tensor& tensor, int from, std::uint32_t tag) {
  return keeping(async_recv(contiguous_numbers(tensor), from, tag), std::make_shared<at::Tensor>(tensor));
}

at::Tensor Context::allocate_like(const at::Tensor& tensor) {
  void* memory = allocate_elements(static_cast<std::size_t>(tensor.numel()),
                                   static_cast<std::size_t>(tensor.element_size()));
  return at::from_blob(memory, tensor.sizes(), at::TensorOptions().dtype(tensor.scalar_type()));
}

}  // namespace cohort

#include "base/result.h"

#include <ATen/ATen.h>
#include <cohort/context.h>
#include <cohort/tensor.h>
#include <fmt/format.h>

namespace cohort {
namespace {

void check_place(const at::Tensor& tensor) {
  if (tensor.defined() && tensor.device().is_cpu() && tensor.layout() == at::kStrided) return;
  throw UsageError(
      UsageError(tensor.defined() ? "a tensor that is not a dense one in CPU memory" : "an undefined tensor")
          .with_remedy("Give a dense tensor in CPU memory, for example tensor.to(at::kCPU)."));
}

Numbers numbers_of(const at::Tensor& tensor) {
  return {tensor.mutable_data_ptr(), static_cast<std::size_t>(tensor.numel()), dtype_of(tensor)};
}

/// A tensor's numbers in a row; written back when it goes, if they had to be copied.
class InARow {
 public:
  explicit InARow(const at::Tensor& tensor)
      : tensor_((check_place(tensor), tensor.detach())), row_(tensor_.contiguous()) {}
  Numbers numbers() const { return numbers_of(row_); }
  const at::Tensor& row() const { return row_; }
  void write_back() const {
    if (row_.data_ptr() != tensor_.data_ptr()) tensor_.copy_(row_);
  }

 private:
  at::Tensor tensor_;
  at::Tensor row_;
};

void check_divides(const at::Tensor& tensor, int world) {
  if (tensor.dim() > 0 && tensor.size(0) % world == 0) return;
  throw UsageError(fmt::format("{} ranks cannot share the first dim of a tensor of {} evenly", world,
                               tensor.dim() == 0 ? 0 : tensor.size(0)));
}

}  // namespace

void Context::all_reduce(const at::Tensor& tensor, ReduceOp op) {
  const InARow row(tensor);
  all_reduce(row.numbers(), op);
  row.write_back();
}

void Context::reduce(const at::Tensor& tensor, int root, ReduceOp op) {
  const InARow row(tensor);
  reduce(ConstNumbers(row.numbers()), row.numbers(), root, op);
  if (rank() == root) row.write_back();
}

void Context::broadcast(const at::Tensor& tensor, int root) {
  const InARow row(tensor);
  broadcast(row.numbers(), root);
  row.write_back();
}

at::Tensor Context::reduce_scatter(const at::Tensor& tensor, ReduceOp op) {
  const InARow row(tensor);
  check_divides(row.row(), world());
  auto sizes = tensor.sizes().vec();
  sizes[0] /= world();
  at::Tensor part = at::empty(sizes, tensor.options().requires_grad(false));
  reduce_scatter(ConstNumbers(row.numbers()), numbers_of(part), op);
  return part;
}

at::Tensor Context::all_gather(const at::Tensor& tensor) {
  const InARow row(tensor);
  auto sizes = tensor.sizes().vec();
  sizes.insert(sizes.begin(), world());
  at::Tensor all = at::empty(sizes, tensor.options().requires_grad(false));
  all_gather(ConstNumbers(row.numbers()), numbers_of(all));
  return all;
}

at::Tensor Context::all_to_all(const at::Tensor& tensor) {
  const InARow row(tensor);
  check_divides(row.row(), world());
  at::Tensor got = at::empty(tensor.sizes(), tensor.options().requires_grad(false));
  all_to_all(ConstNumbers(row.numbers()), numbers_of(got));
  return got;
}

void Context::send(const at::Tensor& tensor, int to, std::uint32_t tag) {
  send(ConstNumbers(InARow(tensor).numbers()), to, tag);
}

void Context::receive(const at::Tensor& tensor, int from, std::uint32_t tag) {
  const InARow row(tensor);
  receive(row.numbers(), from, tag);
  row.write_back();
}

at::Tensor Context::allocate_like(const at::Tensor& tensor) {
  void* memory = allocate_elements(static_cast<std::size_t>(tensor.numel()),
                                   static_cast<std::size_t>(tensor.element_size()));
  return at::from_blob(memory, tensor.sizes(), at::TensorOptions().dtype(tensor.scalar_type()));
}

}  // namespace cohort

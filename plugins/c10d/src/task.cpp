#include "task.h"

#include "tensor/scalar_type.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <cstring>

namespace cohort::c10d_plugin {
namespace {

void check(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.defined(), "cohort: the tensor is undefined");
  TORCH_CHECK(tensor.device().is_cpu(), "cohort: the tensor is on ", tensor.device(),
              ", expected cpu. Use init_process_group with one backend for each device, as in "
              "\"cpu:cohort,cuda:nccl\".");
  TORCH_CHECK(tensor.layout() == at::kStrided, "cohort: the layout of the tensor is ", tensor.layout(),
              ", expected strided; only all_reduce takes sparse tensors.");
}

// Whether the memory of the tensor holds its numbers in row-major order.
bool is_plain(const at::Tensor& tensor) {
  return tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
}

bool follows(const at::Tensor& first, const at::Tensor& next) {
  return static_cast<const std::byte*>(first.const_data_ptr()) + first.nbytes() == next.const_data_ptr();
}

// Whether the tensors lie one after the other in memory, as the chunks of one tensor do.
bool are_one_piece(const std::vector<at::Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_plain(tensors[i])) return false;
    if (i > 0 && !follows(tensors[i - 1], tensors[i])) return false;
  }
  return true;
}

// A complex number counts as two real ones.
DType dtype_of_numbers(const at::Tensor& tensor) {
  const Result<DType> dtype = dtype_of(c10::toRealValueType(tensor.scalar_type()));
  TORCH_CHECK(dtype.has_value(), "cohort: tensors of ", tensor.scalar_type(), " cannot be reduced");
  return *dtype;
}

Numbers as_bytes(const at::Tensor& tensor) {
  return {tensor.data_ptr(), tensor.nbytes(), DType::kU8};
}

std::size_t count_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * (tensor.is_complex() ? 2 : 1);
}

Numbers as_numbers(const at::Tensor& tensor) {
  return {tensor.data_ptr(), count_of(tensor), dtype_of_numbers(tensor)};
}

std::size_t total_bytes(const std::vector<at::Tensor>& tensors) {
  std::size_t total = 0;
  for (const at::Tensor& tensor : tensors) total += tensor.nbytes();
  return total;
}

// The bytes of a contiguous tensor, as a tensor.
at::Tensor flat_bytes(const at::Tensor& tensor) {
  return tensor.view({-1}).view(at::kByte);
}

}  // namespace

// Below autograd: this may run on another thread, where the caller's grad mode and inference mode are not
// set.
void Task::finish() const {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  for (const auto& step : steps_) step();
}

void Task::set_apart(Call& call) {
  const std::byte* const input_end = call.input.data + call.input.size_bytes();
  const std::byte* const output_end = call.output.data + call.output.size_bytes();
  if (call.input.data >= output_end || call.output.data >= input_end) return;
  const at::Tensor copy = keep(at::empty({static_cast<std::int64_t>(call.input.size_bytes())}, at::kByte));
  std::memcpy(copy.data_ptr(), call.input.data, call.input.size_bytes());
  call.input = {copy.data_ptr(), call.input.count, call.input.dtype};
}

const at::Tensor& Task::keep(at::Tensor tensor) {
  kept_.push_back(std::move(tensor));
  return kept_.back();
}

at::Tensor Task::readable(const at::Tensor& tensor) {
  check(tensor);
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  return keep(is_plain(tensor) ? tensor : tensor.resolve_conj().resolve_neg().contiguous());
}

at::Tensor Task::writable(const at::Tensor& tensor, bool is_read) {
  check(tensor);
  at::assert_no_internal_overlap(tensor);
  if (is_plain(tensor)) return keep(tensor);
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const at::Tensor copy = is_read ? tensor.resolve_conj().resolve_neg().contiguous()
                                  : at::empty(tensor.sizes(), tensor.options());
  at_end([tensor, copy] { tensor.copy_(copy); });
  return keep(copy);
}

ConstNumbers Task::bytes_from(const at::Tensor& tensor) {
  return as_bytes(readable(tensor));
}
Numbers Task::bytes_into(const at::Tensor& tensor) {
  return as_bytes(writable(tensor, false));
}
Numbers Task::bytes_in_place(const at::Tensor& tensor) {
  return as_bytes(writable(tensor, true));
}
ConstNumbers Task::numbers_from(const at::Tensor& tensor) {
  return as_numbers(readable(tensor));
}
Numbers Task::numbers_into(const at::Tensor& tensor) {
  return as_numbers(writable(tensor, false));
}
Numbers Task::numbers_in_place(const at::Tensor& tensor) {
  return as_numbers(writable(tensor, true));
}

at::Tensor Task::readable(const std::vector<at::Tensor>& tensors) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors) flat.push_back(readable(tensor).view({-1}));
  return keep(at::cat(flat));
}

ConstNumbers Task::bytes_from(const std::vector<at::Tensor>& tensors) {
  if (tensors.empty()) return {};
  if (!are_one_piece(tensors)) return as_bytes(readable(tensors));
  for (const at::Tensor& tensor : tensors) readable(tensor);
  return {tensors.front().const_data_ptr(), total_bytes(tensors), DType::kU8};
}

ConstNumbers Task::numbers_from(const std::vector<at::Tensor>& tensors) {
  if (tensors.empty()) return {};
  const DType dtype = dtype_of_numbers(tensors.front());
  for (const at::Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.scalar_type() == tensors.front().scalar_type(),
                "cohort: the tensors of one list have types ", tensors.front().scalar_type(), " and ",
                tensor.scalar_type(), ", expected one type");
  }
  const ConstNumbers bytes = bytes_from(tensors);
  return {bytes.data, bytes.count / size_bytes(dtype), dtype};
}

Numbers Task::bytes_into(const std::vector<at::Tensor>& tensors) {
  if (tensors.empty()) return {};
  for (const at::Tensor& tensor : tensors) check(tensor);
  if (are_one_piece(tensors)) {
    for (const at::Tensor& tensor : tensors) keep(tensor);
    return {tensors.front().data_ptr(), total_bytes(tensors), DType::kU8};
  }
  const at::Tensor all = keep(at::empty({static_cast<std::int64_t>(total_bytes(tensors))}, at::kByte));
  at_end([all, tensors] {
    std::int64_t first = 0;
    for (const at::Tensor& tensor : tensors) {
      const auto length = static_cast<std::int64_t>(tensor.nbytes());
      const at::Tensor part = all.narrow(0, first, length);
      first += length;
      if (length == 0) continue;
      if (is_plain(tensor)) {
        flat_bytes(tensor).copy_(part);
      } else {
        const at::Tensor copy = at::empty(tensor.sizes(), tensor.options());
        flat_bytes(copy).copy_(part);
        tensor.copy_(copy);
      }
    }
  });
  return as_bytes(all);
}

std::vector<std::size_t> byte_counts(const std::vector<at::Tensor>& tensors) {
  std::vector<std::size_t> counts;
  for (const at::Tensor& tensor : tensors) counts.push_back(tensor.nbytes());
  return counts;
}

std::vector<std::size_t> counts(const std::vector<at::Tensor>& tensors) {
  std::vector<std::size_t> counts;
  for (const at::Tensor& tensor : tensors) counts.push_back(count_of(tensor));
  return counts;
}

}  // namespace cohort::c10d_plugin

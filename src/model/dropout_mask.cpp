#include "model/dropout_mask.h"

#include "base/check.h"
#include "model/dropout_kernels.h"

#include <ATen/ATen.h>
#include <cmath>
#include <cohort/random.h>
#include <torch/csrc/autograd/custom_function.h>
#include <utility>

namespace cohort::model {
namespace {

namespace autograd = torch::autograd;

constexpr std::uint64_t kDropoutStream = 0x64726f706f7574;  // "dropout"

template <class T>
void drop_rows(const at::Tensor& from, at::Tensor& to, const DropoutMask& mask, DropoutKernel<T> kernel) {
  const std::size_t rows = mask.samples->size();
  const std::size_t row_elements = static_cast<std::size_t>(from.numel()) / rows;
  const double words = std::ldexp(1.0, 32);
  DropoutRow row{.key = mask.key,
                 .sample = 0,
                 .threshold = static_cast<std::uint32_t>(std::fmin(mask.rate * words + 0.5, words - 1)),
                 .scale = 1 / (1 - mask.rate)};
  const T* in = from.const_data_ptr<T>();
  T* out = to.mutable_data_ptr<T>();
  for (std::size_t r = 0; r < rows; ++r) {
    row.sample = static_cast<std::uint64_t>((*mask.samples)[r]);
    kernel(row, in + r * row_elements, out + r * row_elements, row_elements);
  }
}

at::Tensor dropped(const at::Tensor& input, const DropoutMask& mask) {
  COHORT_CHECK_EQ(input.size(0), static_cast<std::int64_t>(mask.samples->size()));
  const at::ScalarType type = input.scalar_type();
  if (type != at::kFloat && type != at::kDouble) return dropped(input.to(at::kFloat), mask).to(type);
  const at::Tensor from = input.contiguous();
  at::Tensor to = at::empty_like(from);
  if (from.numel() == 0) return to;
  const DropoutKernels kernels = dropout_kernels();
  if (type == at::kFloat) {
    drop_rows(from, to, mask, kernels.of_float);
  } else {
    drop_rows(from, to, mask, kernels.of_double);
  }
  return to;
}

struct MaskHolder : torch::CustomClassHolder {
  explicit MaskHolder(DropoutMask held) : mask(std::move(held)) {}
  DropoutMask mask;
};

struct MaskFunction : autograd::Function<MaskFunction> {
  static at::Tensor forward(autograd::AutogradContext* context, const at::Tensor& input,
                            const DropoutMask& mask) {
    context->saved_data["mask"] = c10::IValue::make_capsule(c10::make_intrusive<MaskHolder>(mask));
    return dropped(input, mask);
  }

  static autograd::tensor_list backward(autograd::AutogradContext* context, autograd::tensor_list gradients) {
    const auto holder = context->saved_data["mask"].toCapsule();
    const DropoutMask& mask = static_cast<const MaskHolder&>(*holder).mask;
    return {apply(gradients[0], mask), at::Tensor()};
  }
};

}  // namespace

DropoutKernels dropout_kernels() {
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                 __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx512) return dropout_kernels_avx512();
  return has_avx2 ? dropout_kernels_avx2() : dropout_kernels_generic();
}

std::uint64_t dropout_key(std::uint64_t seed, std::uint64_t step, std::uint64_t layer) {
  return RandomStream(seed, kDropoutStream).substream(step).substream(layer).bits(0);
}

at::Tensor masked(const at::Tensor& input, const DropoutMask& mask) {
  return MaskFunction::apply(input, mask);
}

}  // namespace cohort::model

#include "base/result.h"

#include <ATen/ATen.h>
#include <cohort/tensor.h>
#include <fmt/format.h>

namespace cohort {
namespace {

template <class Number>
void fill_by_position(at::Tensor& tensor, Number number) {
  if (!tensor.device().is_cpu() || !at::isFloatingType(tensor.scalar_type())) {
    throw UsageError(
        Error(ErrorCode::kUsage, fmt::format("cannot fill a {} tensor on {} with random numbers",
                                             at::toString(tensor.scalar_type()), tensor.device().str()))
            .with_remedy("Give a floating-point tensor in CPU memory."));
  }
  const at::NoGradGuard no_grad;
  at::Tensor numbers = at::empty(tensor.sizes(), at::kDouble);
  double* out = numbers.mutable_data_ptr<double>();
  const auto count = static_cast<std::uint64_t>(numbers.numel());
  for (std::uint64_t i = 0; i < count; ++i) out[i] = number(i);
  tensor.copy_(numbers);
}

}  // namespace

void fill_uniform(at::Tensor& tensor, const RandomStream& stream, double low, double high) {
  fill_by_position(tensor, [&](std::uint64_t i) { return low + (high - low) * stream.uniform(i); });
}

void fill_normal(at::Tensor& tensor, const RandomStream& stream, double mean, double deviation) {
  fill_by_position(tensor, [&](std::uint64_t i) { return mean + deviation * stream.normal(i); });
}

}  // namespace cohort

#include "comm/numbers/combine.h"

#include "base/check.h"
#include "comm/numbers/combine_kernels.h"

#include <array>
#include <cohort/reduce_op.h>
#include <cstring>

namespace cohort::comm {
namespace {

bool has_avx2() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
#else
  return false;
#endif
}

CombineKernel kernel(ReduceOp op, DType dtype) {
  return has_avx2() ? combine_kernel_avx2(op, dtype) : combine_kernel_generic(op, dtype);
}

ConvertKernels converters(DType dtype) {
  return has_avx2() ? convert_kernels_avx2(dtype) : convert_kernels_generic(dtype);
}

template <class T>
void divide_each(Numbers sums, std::size_t num_inputs) {
  const auto divisor = static_cast<T>(num_inputs);
  for (std::size_t i = 0; i < sums.count; ++i) {
    T value;
    std::memcpy(&value, sums.data + i * sizeof value, sizeof value);
    value /= divisor;
    std::memcpy(sums.data + i * sizeof value, &value, sizeof value);
  }
}

}  // namespace

bool is_combinable(ReduceOp op, DType dtype) {
  return combine_kernel_generic(op, dtype) != nullptr;
}

void combine(ReduceOp op, DType dtype, std::span<const std::byte* const> inputs,
             std::span<std::byte* const> targets, std::size_t count) {
  const CombineKernel run = kernel(op, dtype);
  COHORT_CHECK(run != nullptr, "{} of {} cannot be made", name(op), name(dtype));
  COHORT_CHECK(!inputs.empty());
  run({inputs.data(), inputs.size(), targets.data(), targets.size(), count});
}

ReduceOp partial_op(ReduceOp op) {
  return op == ReduceOp::kMean ? ReduceOp::kSum : op;
}

void divide(Numbers sums, std::size_t num_inputs) {
  switch (sums.dtype) {
    case DType::kF32:
      return divide_each<float>(sums, num_inputs);
    case DType::kF64:
      return divide_each<double>(sums, num_inputs);
    default:
      COHORT_CHECK(false, "{} is no type of partial results", name(sums.dtype));
  }
}

DType accumulator_of(DType dtype) {
  return dtype == DType::kBF16 || dtype == DType::kF16 ? DType::kF32 : dtype;
}

void convert(ConstNumbers from, Numbers to) {
  COHORT_CHECK_EQ(from.count, to.count);
  if (from.count == 0) return;
  if (from.dtype == to.dtype) {
    std::memmove(to.data, from.data, from.size_bytes());
    return;
  }
  const bool widens = to.dtype == DType::kF32;
  const ConvertKernels kernels = converters(widens ? from.dtype : to.dtype);
  const auto run = widens ? kernels.widen : kernels.narrow;
  COHORT_CHECK(run != nullptr && (widens || from.dtype == DType::kF32), "no conversion from {} to {}",
               name(from.dtype), name(to.dtype));
  run(from.data, to.data, from.count);
}

void round_to(DType dtype, Numbers numbers) {
  COHORT_CHECK_EQ(numbers.dtype, DType::kF32);
  const ConvertKernels kernels = converters(dtype);
  COHORT_CHECK(kernels.round != nullptr, "nothing is rounded to {}", name(dtype));
  kernels.round(numbers.data, numbers.data, numbers.count);
}

}  // namespace cohort::comm

namespace cohort {
namespace {

constexpr std::array<std::string_view, 8> kReduceOpNames = {"sum",  "min", "max", "product",
                                                            "mean", "and", "or",  "xor"};
static_assert(kReduceOpNames.size() == std::size(kAllReduceOps));

}  // namespace

std::string_view name(ReduceOp op) {
  return kReduceOpNames[static_cast<std::size_t>(op)];
}

std::optional<ReduceOp> reduce_op_named(std::string_view name) {
  for (const ReduceOp op : kAllReduceOps) {
    if (cohort::name(op) == name) return op;
  }
  return std::nullopt;
}

}  // namespace cohort

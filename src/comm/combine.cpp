#include "comm/combine.h"

#include "base/check.h"
#include "base/float16.h"
#include "comm/combine_kernels.h"

#include <cstring>

namespace cohort::comm {
namespace {

CombineKernel kernel(ReduceOp op, DType dtype) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2) return combine_kernel_avx2(op, dtype);
#endif
  return combine_kernel_generic(op, dtype);
}

template <float (*kLoad)(std::uint16_t)>
void widen(ConstNumbers from, Numbers to) {
  for (std::size_t i = 0; i < from.count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from.data + i * sizeof bits, sizeof bits);
    const float value = kLoad(bits);
    std::memcpy(to.data + i * sizeof value, &value, sizeof value);
  }
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

template <std::uint16_t (*kStore)(float)>
void narrow(ConstNumbers from, Numbers to) {
  for (std::size_t i = 0; i < from.count; ++i) {
    float value = 0;
    std::memcpy(&value, from.data + i * sizeof value, sizeof value);
    const std::uint16_t bits = kStore(value);
    std::memcpy(to.data + i * sizeof bits, &bits, sizeof bits);
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
  if (from.dtype == to.dtype) {
    if (from.count > 0) std::memmove(to.data, from.data, from.size_bytes());
  } else if (from.dtype == DType::kBF16 && to.dtype == DType::kF32) {
    widen<f32_from_bf16>(from, to);
  } else if (from.dtype == DType::kF16 && to.dtype == DType::kF32) {
    widen<f32_from_f16>(from, to);
  } else if (from.dtype == DType::kF32 && to.dtype == DType::kBF16) {
    narrow<bf16_from_f32>(from, to);
  } else if (from.dtype == DType::kF32 && to.dtype == DType::kF16) {
    narrow<f16_from_f32>(from, to);
  } else {
    COHORT_CHECK(false, "no conversion from {} to {}", name(from.dtype), name(to.dtype));
  }
}

}  // namespace cohort::comm

#pragma once

#include <cohort/reduce_op.h>

#include <cohort/dtype.h>
#include <cstddef>
#include <cstdint>

// The loops of combine() and convert(), compiled once for every instruction set (combine_<set>.cpp) and
// chosen at run time. Every set gives the same bits: element by element, from the left, no fused operations.
// Only the payload of a NaN may differ.

namespace cohort::comm {

/// The bitwise operation that is equal to `op` on truth values, each of which is 0 or 1.
constexpr ReduceOp truth_op(ReduceOp op) {
  if (op == ReduceOp::kSum || op == ReduceOp::kMax) return ReduceOp::kOr;
  if (op == ReduceOp::kProduct || op == ReduceOp::kMin) return ReduceOp::kAnd;
  return op;
}

struct CombineArguments {
  const std::byte* const* inputs;
  std::size_t num_inputs;
  std::byte* const* targets;
  std::size_t num_targets;
  std::size_t count;
};

/// Null for a dtype that the operation does not apply to.
using CombineKernel = void (*)(const CombineArguments&);

/// The loops of convert() and round_to() between f32 and a 16-bit float: `from` and `to` as there.
struct ConvertKernels {
  using Convert = void (*)(const std::byte* from, std::byte* to, std::size_t count);
  Convert widen = nullptr;   ///< to f32
  Convert narrow = nullptr;  ///< from f32
  Convert round = nullptr;   ///< f32 to f32
};

/// Null for a dtype that is no 16-bit float.
ConvertKernels convert_kernels_generic(DType dtype);
ConvertKernels convert_kernels_avx2(DType dtype);

CombineKernel combine_kernel_generic(ReduceOp op, DType dtype);
CombineKernel combine_kernel_avx2(ReduceOp op, DType dtype);

}  // namespace cohort::comm

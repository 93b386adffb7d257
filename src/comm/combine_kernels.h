#pragma once

#include <cohort/reduce_op.h>

#include <cohort/dtype.h>
#include <cstddef>
#include <cstdint>

// The loops of combine(), compiled once for every instruction set (combine_<set>.cpp), chosen at run time.
// Every set gives the same bits: element by element, from the left, no fused operations. Only which of
// several NaN a NaN is made from may differ.

namespace cohort::comm {

struct CombineArguments {
  const std::byte* const* inputs;
  std::size_t num_inputs;
  std::byte* const* targets;
  std::size_t num_targets;
  std::size_t count;
};

/// Null for a dtype that cannot be combined.
using CombineKernel = void (*)(const CombineArguments&);

CombineKernel combine_kernel_generic(ReduceOp op, DType dtype);
CombineKernel combine_kernel_avx2(ReduceOp op, DType dtype);

}  // namespace cohort::comm

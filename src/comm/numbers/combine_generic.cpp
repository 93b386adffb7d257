#include "comm/numbers/combine_loops.h"

namespace cohort::comm {

CombineKernel combine_kernel_generic(ReduceOp op, DType dtype) {
  return kernel_for(op, dtype);
}

ConvertKernels convert_kernels_generic(DType dtype) {
  return converters_for(dtype);
}

}  // namespace cohort::comm

#include "comm/combine_loops.h"

namespace cohort::comm {

CombineKernel combine_kernel_avx2(ReduceOp op, DType dtype) {
  return kernel_for(op, dtype);
}

}  // namespace cohort::comm

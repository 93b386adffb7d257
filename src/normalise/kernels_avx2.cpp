#include "normalise/loops.h"

namespace cohort::normalise {

Kernels kernels_avx2(DType dtype) {
  return kernels_for(dtype);
}

}  // namespace cohort::normalise

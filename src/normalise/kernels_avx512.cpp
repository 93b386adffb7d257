#include "normalise/loops.h"

namespace cohort::normalise {

Kernels kernels_avx512(DType dtype) {
  return kernels_for(dtype);
}

}  // namespace cohort::normalise

#include "normalise/loops.h"

namespace cohort::normalise {

Kernels kernels_generic(DType dtype) {
  return kernels_for(dtype);
}

}  // namespace cohort::normalise

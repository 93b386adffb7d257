#include "normalise/kernels.h"

namespace cohort::normalise {

Kernels kernels_of(InstructionSet set, DType dtype) {
  switch (set) {
    case InstructionSet::kGeneric:
      return kernels_generic(dtype);
    case InstructionSet::kAvx2:
      return kernels_avx2(dtype);
    case InstructionSet::kAvx512:
      return kernels_avx512(dtype);
  }
  return kernels_generic(dtype);
}

}  // namespace cohort::normalise

#include "model/dropout_loops.h"

namespace cohort::model {

DropoutKernels dropout_kernels_generic() {
  return {drop<float>, drop<double>};
}

}  // namespace cohort::model

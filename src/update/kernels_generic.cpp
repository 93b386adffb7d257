#include "update/loops.h"

namespace cohort::update {

Kernels kernels_generic() {
  return {.update = update_loop, .square_sum = square_sum_loop};
}

}  // namespace cohort::update

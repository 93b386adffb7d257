#include "update/loops.h"

namespace cohort::update {

Kernels kernels_generic() {
  return {.update = update_loop, .square_sums = square_sums_loop};
}

}  // namespace cohort::update

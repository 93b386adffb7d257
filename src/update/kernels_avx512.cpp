#include "update/product_loops.h"
#include "update/rules.h"

namespace cohort::update {

Kernels kernels_avx512() {
  return {.rules = kRules, .square_sums = square_sums_loop, .multiply = matrix_product};
}

}  // namespace cohort::update

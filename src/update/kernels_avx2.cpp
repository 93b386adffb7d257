#include "update/factored_loops.h"
#include "update/product_loops.h"
#include "update/rules.h"

namespace cohort::update {

Kernels kernels_avx2() {
  return {.rules = kRules,
          .square_sums = square_sums_loop,
          .multiply = matrix_product,
          .row_squares = add_row_squares,
          .divide_row = divide_row};
}

}  // namespace cohort::update

#include "solve/conjugate_gradients.h"

#include <array>
#include <cmath>

namespace cohort::solve {

ConjugateGradients::ConjugateGradients(std::size_t count, DType dtype)
    : solution_(count, dtype), residual_(count, dtype), direction_(count, dtype) {}

void ConjugateGradients::begin(ConstNumbers gradient, double square, Damping damping,
                               const CgLimits& limits) {
  damping_ = damping;
  limits_ = limits;
  const std::array<Term, 1> nothing{Term{0, gradient}}, downhill{Term{-1, gradient}};
  combine(nothing, solution_);
  combine(downhill, residual_);
  copy(residual_, direction_);
  first_square_ = square_ = square;
  num_products_ = 0;
  is_finite_ = std::isfinite(square);
  is_done_ = !(square > 0) || !is_finite_;
}

Status ConjugateGradients::tell(ConstNumbers product, Ranks& ranks) {
  COHORT_CHECK(!is_done_);
  std::array<ExactSum, 2> sums{};
  const std::array<Pair, 2> pairs{Pair{direction_, product}, Pair{direction_, direction_}};
  add_products(pairs, sums);
  COHORT_RETURN_IF_ERROR(ranks.combine(sums, {}));
  const double of_matrix = sums[0].value(), length = sums[1].value();
  if (damping_.of_curvature > 0) {
    damping_ = {.amount = damping_.of_curvature * of_matrix / length};
  }
  const double curvature = of_matrix + damping_.amount * length;
  is_finite_ = std::isfinite(curvature);
  is_done_ = !is_finite_ || curvature <= 0;
  if (is_done_) return {};
  const double step = square_ / curvature;
  combine(std::array{Term{1, solution_}, Term{step, direction_}}, solution_);
  combine(std::array{Term{1, residual_}, Term{-step, product}, Term{-step * damping_.amount, direction_}},
          residual_);
  std::array<ExactSum, 1> sum{};
  add_products(std::array{Pair{residual_, residual_}}, sum);
  COHORT_RETURN_IF_ERROR(ranks.combine(sum, {}));
  const double before = square_;
  square_ = sum[0].value();
  ++num_products_;
  is_done_ = !(std::sqrt(square_) > limits_.residual * std::sqrt(first_square_)) ||
             num_products_ >= limits_.products;
  if (!is_done_) combine(std::array{Term{1, residual_}, Term{square_ / before, direction_}}, direction_);
  return {};
}

}  // namespace cohort::solve

#pragma once

#include "solve/ranks.h"
#include "solve/vectors.h"

namespace cohort::solve {

/// The multiple of the identity that is added to a matrix.
struct Damping {
  double amount = 0;
  /// Above 0: the amount becomes this times the curvature along the gradient, when that is known.
  double of_curvature = 0;
};

struct CgLimits {
  double residual = 0.1;  ///< relative to the gradient: small enough
  int products = 50;
};

/// Solves (A + damping) x = −gradient by conjugate gradients, from x = 0. The caller multiplies with A, which
/// has no negative curvature:
///
///     cg.begin(gradient, square of its length, damping, limits);
///     while (!cg.is_done()) cg.tell(A cg.direction(), ranks);
///
/// Threads: one at a time; all ranks make the same calls.
/// Failure: what the ranks report. A curvature that is not above 0 ends it with the solution so far.
/// Cost: 3 vectors; two messages of up to 2 sums for a product.
class ConjugateGradients {
 public:
  ConjugateGradients(std::size_t count, DType dtype);

  void begin(ConstNumbers gradient, double square, Damping damping, const CgLimits& limits);
  Status tell(ConstNumbers product, Ranks& ranks);

  bool is_done() const { return is_done_; }
  ConstNumbers direction() const { return direction_; }
  ConstNumbers solution() const { return solution_; }
  /// −gradient − (A + damping) solution
  ConstNumbers residual() const { return residual_; }
  double damping() const { return damping_.amount; }
  /// False if a product was NaN or infinite.
  bool is_finite() const { return is_finite_; }
  std::size_t size_bytes() const { return 3 * solution_.size_bytes(); }

 private:
  Vector solution_;
  Vector residual_;
  Vector direction_;
  Damping damping_;
  CgLimits limits_;
  double first_square_ = 0;  // of the residual
  double square_ = 0;
  int num_products_ = 0;
  bool is_done_ = true;
  bool is_finite_ = true;
};

}  // namespace cohort::solve

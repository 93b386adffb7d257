#pragma once

#include "solve/conjugate_gradients.h"
#include "solve/minimizer.h"
#include "solve/penalties.h"

#include <vector>

namespace cohort::solve {

/// Gauss-Newton with damping, as Levenberg and Marquardt have it, sliced over ranks. The matrix is JᵀHJ with
/// the Jacobian J of the outputs and the second derivatives H of the loss by them, the identity for half a
/// sum of squares. The caller multiplies with it; the equations of a step are solved by conjugate gradients,
/// the more precisely the faster the gradient falls (Eisenstat and Walker, choice 2).
///
/// A step is taken if the loss falls by at least 10⁻⁴ of what the quadratic model promises. The damping
/// follows the ratio of the two (Nielsen): it falls to a third where the model is right, and rises faster and
/// faster while steps are refused.
///
/// Threads: as Minimizer.
/// Lifetime: the ranks must outlive it.
/// Failure: as Minimizer.
/// Cost: 8 vectors. An iteration sends two messages of up to 2 sums for each product, one of 4 sums for each
/// evaluation, and one of 1.
class GaussNewton final : public Minimizer {
 public:
  /// `start` is the first point. Penalties with l1 are not for this solver.
  GaussNewton(const SolverSettings& settings, std::vector<Penalty> penalties, Ranks& ranks,
              ConstNumbers start);

  Ask begin() override;
  Result<Ask> tell(double value, ConstNumbers gradient) override;
  Result<Ask> tell_product(ConstNumbers product) override;

  ConstNumbers point() const override { return is_at_trial_ ? trial_ : point_; }
  ConstNumbers vector() const override { return cg_.direction(); }
  void set_learning_rate(double /*rate*/) override {}

  void visit_vectors(const std::function<void(const std::string& name, Numbers vector)>& visitor) override;
  void visit_numbers(const std::function<void(const std::string& name, Numbers numbers)>& visitor) override;
  void set_point(ConstNumbers point) override;
  void begin_anew(ConstNumbers point) override;
  std::size_t size_bytes() const override;

 private:
  Result<Ask> start(double value);
  Result<Ask> judge(double value);
  Result<Ask> accept(double loss, double ratio);
  Ask refuse();
  Ask solve_equations();
  Ask try_step();
  Ask finish(SolverEnd end);
  void go_to(bool trial);
  void choose_residual();

  const SolverSettings settings_;
  const Penalties penalties_;
  Ranks& ranks_;
  ConjugateGradients cg_;
  Vector point_;     // the best
  Vector gradient_;  // there
  Vector trial_;
  Vector trial_gradient_;
  Vector product_;
  bool is_at_trial_ = false;
  int num_refused_ = 0;           // in this iteration
  std::int64_t has_started_ = 0;  // value and gradient at the point are known
  double damping_ = -1;           // below 0: not known yet
  double rise_ = 2;               // of the damping, when a step is refused
  double square_ = 0;             // of the gradient
  double square_before_ = 0;      // in the iteration before; 0: there was none
  double residual_ = 0;           // relative, at which conjugate gradients end
};

}  // namespace cohort::solve

#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort {

/// The solvers: optimizers that see the loss of all samples, several times in a step if need be.
enum class SolverKind {
  kLbfgs,        ///< L-BFGS
  kOwlqn,        ///< OWL-QN: L-BFGS for a loss with an l1 penalty
  kGaussNewton,  ///< Gauss-Newton with damping, its equations solved by conjugate gradients
};
/// The name in job files: `lbfgs`, `owlqn`, `gauss-newton`.
COHORT_EXPORT std::string_view name(SolverKind kind);
COHORT_EXPORT std::vector<std::string> solver_names();
COHORT_EXPORT std::optional<SolverKind> solver_named(std::string_view name);

/// How a solver finds the length of a step.
enum class LineSearch {
  kStrongWolfe,  ///< lbfgs: one that meets the strong Wolfe conditions; owlqn: halved until the loss falls
  kNone,         ///< `learning_rate`; the first step also times min(1, 1/|gradient|)
};

/// A solver and its settings, those of torch.optim.LBFGS where that has them.
struct SolverSettings {
  SolverKind kind = SolverKind::kLbfgs;
  int history_size = 10;     ///< lbfgs, owlqn: pairs of vectors that approximate the curvature
  int max_iterations = 1;    ///< iterations in one step
  int max_evaluations = 25;  ///< evaluations of the loss in one line search, or iteration of gauss-newton
  LineSearch line_search = LineSearch::kStrongWolfe;  ///< lbfgs, owlqn
  double learning_rate = 1;                           ///< for LineSearch::kNone
  int max_products = 50;      ///< gauss-newton: products with the matrix for one trial step
  double cg_tolerance = 0.1;  ///< gauss-newton: largest residual of its equations, relative to the gradient
  double damping = 1e-3;      ///< gauss-newton: the first, relative to the curvature along the gradient
  double tolerance_grad = 1e-7;    ///< ends when no element of the gradient is larger
  double tolerance_change = 1e-9;  ///< ends when no parameter, or the loss relative to itself, changes more
  double l1 = 0;                   ///< for owlqn: factor of the sum of the parameters' absolute values
  double weight_decay = 0;         ///< half of this is the factor of the sum of their squares

  bool operator==(const SolverSettings&) const = default;
};

/// Why a solver has ended.
enum class SolverEnd {
  kGradient,    ///< the gradient is within tolerance_grad: a minimum
  kChange,      ///< the last iteration changed less than tolerance_change
  kNoProgress,  ///< no trial step had a lower loss, not even a short one along the gradient
  kNotFinite,   ///< the loss or its gradient at the first point is NaN or infinite
  kUnbounded,   ///< the loss falls without end
  kIterations,  ///< as many iterations as were allowed
};
/// As in *ended because …*: `the gradient is within the tolerance`.
COHORT_EXPORT std::string_view reason(SolverEnd end);

/// The state of a solver after an iteration; the same on all ranks.
struct SolverReport {
  std::optional<SolverEnd> end{};
  std::int64_t iterations = 0;   ///< so far
  std::int64_t evaluations = 0;  ///< of the loss, so far
  std::int64_t products = 0;     ///< with the matrix of gauss-newton, so far
  double loss = 0;               ///< with penalties
  double largest_gradient = 0;  ///< the largest absolute value of its elements; the pseudo-gradient if l1 > 0
  double step_length = 0;       ///< of the last iteration, as a multiple of its direction
};

}  // namespace cohort

#pragma once

#include "solve/lbfgs.h"

#include <functional>

namespace cohort::solve {

/// Computes the objective and its gradient at a point: the slice of this rank, the value of all ranks.
using Evaluate = std::function<Result<double>(ConstNumbers point, Numbers gradient)>;

/// Makes an iteration. `gradient` is memory for a vector.
Status iterate(Lbfgs& solver, const Evaluate& evaluate, Numbers gradient);

/// Iterates until the solver ends, or has made so many iterations.
Result<SolverReport> minimize(Lbfgs& solver, const Evaluate& evaluate, std::int64_t max_iterations);

}  // namespace cohort::solve

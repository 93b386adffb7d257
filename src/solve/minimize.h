#pragma once

#include "solve/minimizer.h"

#include <functional>

namespace cohort::solve {

/// Computes the objective and its gradient at a point: the slice of this rank, the value of all ranks.
using Evaluate = std::function<Result<double>(ConstNumbers point, Numbers gradient)>;

/// Multiplies the matrix at a point with a vector: slices of this rank.
using Multiply = std::function<Status(ConstNumbers point, ConstNumbers vector, Numbers product)>;

/// The objective of a solver. `multiply` may be empty for a solver that asks for no products.
struct Problem {
  Evaluate evaluate{};
  Multiply multiply{};
};

/// Makes an iteration. `memory` is that of a vector.
Status iterate(Minimizer& solver, const Problem& problem, Numbers memory);

/// Iterates until the solver ends, or has made so many iterations.
Result<SolverReport> minimize(Minimizer& solver, const Problem& problem, std::int64_t max_iterations);

}  // namespace cohort::solve

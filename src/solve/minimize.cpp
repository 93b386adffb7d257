#include "solve/minimize.h"

#include "solve/vectors.h"

namespace cohort::solve {

Status iterate(Minimizer& solver, const Problem& problem, Numbers memory) {
  using Ask = Minimizer::Ask;
  Ask ask = solver.begin();
  while (ask != Ask::kNothing) {
    if (ask == Ask::kEvaluate) {
      COHORT_ASSIGN_OR_RETURN(const double value, problem.evaluate(solver.point(), memory));
      COHORT_ASSIGN_OR_RETURN(ask, solver.tell(value, memory));
    } else {
      COHORT_RETURN_IF_ERROR(problem.multiply(solver.point(), solver.vector(), memory));
      COHORT_ASSIGN_OR_RETURN(ask, solver.tell_product(memory));
    }
  }
  return {};
}

Result<SolverReport> minimize(Minimizer& solver, const Problem& problem, std::int64_t max_iterations) {
  Vector memory(solver.point().count, solver.point().dtype);
  const std::int64_t before = solver.report().iterations;
  while (solver.report().iterations - before < max_iterations) {
    COHORT_RETURN_IF_ERROR(iterate(solver, problem, memory));
    if (solver.end()) return solver.report();
  }
  SolverReport report = solver.report();
  report.end = SolverEnd::kIterations;
  return report;
}

}  // namespace cohort::solve

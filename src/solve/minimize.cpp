#include "solve/minimize.h"

namespace cohort::solve {

Status iterate(Lbfgs& solver, const Evaluate& evaluate, Numbers gradient) {
  Lbfgs::Ask ask = solver.begin();
  while (ask == Lbfgs::Ask::kEvaluate) {
    COHORT_ASSIGN_OR_RETURN(const double value, evaluate(solver.point(), gradient));
    COHORT_ASSIGN_OR_RETURN(ask, solver.tell(value, gradient));
  }
  return {};
}

Result<SolverReport> minimize(Lbfgs& solver, const Evaluate& evaluate, std::int64_t max_iterations) {
  Vector gradient(solver.point().count, solver.point().dtype);
  const std::int64_t before = solver.report().iterations;
  while (solver.report().iterations - before < max_iterations) {
    COHORT_RETURN_IF_ERROR(iterate(solver, evaluate, gradient));
    if (solver.end()) return solver.report();
  }
  SolverReport report = solver.report();
  report.end = SolverEnd::kIterations;
  return report;
}

}  // namespace cohort::solve

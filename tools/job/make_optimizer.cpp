#include "job/make_optimizer.h"

#include "base/check.h"
#include "update/optimizer.h"

namespace cohort::job {
namespace {

OptimizerKind optimizer_of(std::string_view word) {
  const auto found = optimizer_named(word);
  COHORT_CHECK(found.has_value(), "optimizer.name = '{}'", word);
  return *found;
}

}  // namespace

OptimizerSettings make_optimizer(const OptimizerConfig& config) {
  OptimizerSettings settings = config;
  settings.kind = optimizer_of(config.name);
  return with_defaults(settings);
}

std::optional<SolverSettings> make_solver(const OptimizerConfig& config) {
  const auto kind = solver_named(config.name);
  if (!kind) return std::nullopt;
  SolverSettings settings = config.solver;
  settings.kind = *kind;
  const bool has_rate = settings.line_search == LineSearch::kNone && *kind != SolverKind::kGaussNewton;
  if (has_rate) settings.learning_rate = config.learning_rate.value_or(settings.learning_rate);
  settings.weight_decay = config.weight_decay;
  return settings;
}

bool has_schedule(const OptimizerConfig& config) {
  const auto solver = make_solver(config);
  return !solver || (solver->kind != SolverKind::kGaussNewton && solver->line_search == LineSearch::kNone);
}

}  // namespace cohort::job

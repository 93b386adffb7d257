#include "config/sections.h"
#include "solve/settings_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::config {
namespace {

constexpr Range<int> kFromOne{1, 1'000'000'000};
constexpr Range<double> kTolerance{0.0, 1e9};

// `lbfgs and owlqn`: the solvers that use a setting.
std::string solvers_text(std::string_view setting) {
  return fmt::format("{}", fmt::join(solvers_using(setting), " and "));
}

Key line_search_key() {
  const auto set = [](Config& config, std::size_t index) {
    config.optimizer.solver.line_search = static_cast<LineSearch>(index);
  };
  const auto get = [](const Config& config) {
    return static_cast<std::size_t>(config.optimizer.solver.line_search);
  };
  return choice("optimizer.line_search", {"strong-wolfe", "none"}, "strong-wolfe", set, get,
                fmt::format("How {} find the length of a step; none: it is optimizer.learning_rate, by "
                            "default 1, and follows the schedule.",
                            solvers_text("line_search")));
}

std::vector<Key> quasi_newton_keys() {
  return {
      whole_number("optimizer.history_size", COHORT_FIELD(optimizer.solver.history_size), 10, {1, 1000},
                   fmt::format("The number of pairs of vectors that approximate the curvature, for {}.",
                               solvers_text("history_size"))),
      line_search_key(),
      real_number(
          "optimizer.l1", COHORT_FIELD(optimizer.solver.l1), 0.0, {0.0, 1e9},
          "The factor of the sum of the absolute values of all parameters, which owlqn adds to the loss."),
  };
}

std::vector<Key> gauss_newton_keys() {
  return {
      whole_number("optimizer.max_products", COHORT_FIELD(optimizer.solver.max_products), 50, kFromOne,
                   "The largest number of products with the matrix of gauss-newton for one trial step."),
      real_number("optimizer.cg_tolerance", COHORT_FIELD(optimizer.solver.cg_tolerance), 0.1, {1e-15, 1.0},
                  "The largest residual of the equations of gauss-newton, relative to the gradient."),
      real_number("optimizer.damping", COHORT_FIELD(optimizer.solver.damping), 1e-3, {1e-30, 1e30},
                  "The first damping of gauss-newton, relative to the curvature along the gradient."),
  };
}

std::vector<Key> limit_keys() {
  return {
      whole_number("optimizer.max_iterations", COHORT_FIELD(optimizer.solver.max_iterations), 1, kFromOne,
                   "The number of iterations of a solver in one step."),
      whole_number("optimizer.max_evaluations", COHORT_FIELD(optimizer.solver.max_evaluations), 25, kFromOne,
                   "The largest number of evaluations of the loss in one line search, or one iteration of "
                   "gauss-newton."),
      real_number("optimizer.tolerance_grad", COHORT_FIELD(optimizer.solver.tolerance_grad), 1e-7, kTolerance,
                  "A solver ends when no element of the gradient is larger."),
      real_number(
          "optimizer.tolerance_change", COHORT_FIELD(optimizer.solver.tolerance_change), 1e-9, kTolerance,
          "A solver ends when no parameter, or the loss relative to itself, changes more in an iteration."),
  };
}

}  // namespace

std::vector<Key> solver_keys() {
  std::vector<Key> keys;
  for (const auto part : {quasi_newton_keys, gauss_newton_keys, limit_keys}) {
    for (Key& key : part()) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace cohort::config

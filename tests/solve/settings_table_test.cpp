#include "solve/settings_table.h"
#include "solve/gauss_newton.h"
#include "solve/lbfgs.h"

#include <gtest/gtest.h>
#include <limits>

namespace cohort {
namespace {

std::string refusal_of(const SolverSettings& settings) {
  const Status status = check_settings(settings);
  return status ? "" : status.error().text();
}

TEST(SolverSettings, EverySolverTakesItsDefaults) {
  for (const std::string& word : solver_names())
    EXPECT_EQ(refusal_of({.kind = *solver_named(word)}), "") << word;
  EXPECT_EQ(solver_named("adam"), std::nullopt);
}

TEST(SolverSettings, NumbersOutOfRangeAreRefused) {
  EXPECT_EQ(refusal_of({.history_size = 0}),
            "SolverSettings::history_size is 0. Give a finite number from 1 on, up to 1000.");
  EXPECT_NE(refusal_of({.tolerance_grad = -1}), "");
  EXPECT_NE(refusal_of({.tolerance_change = std::numeric_limits<double>::quiet_NaN()}), "");
  EXPECT_NE(refusal_of({.weight_decay = std::numeric_limits<double>::infinity()}), "");
  EXPECT_NE(refusal_of({.kind = SolverKind::kGaussNewton, .damping = 0}), "");
}

TEST(SolverSettings, SettingsOfOtherSolversAreRefused) {
  EXPECT_EQ(refusal_of({.l1 = 0.5}),
            "SolverSettings::l1 is set, but lbfgs has no use for it. Leave it out; it is for owlqn.");
  EXPECT_EQ(refusal_of({.kind = SolverKind::kOwlqn, .l1 = 0.5}), "");
  EXPECT_NE(refusal_of({.kind = SolverKind::kGaussNewton, .history_size = 5}), "");
  EXPECT_NE(refusal_of({.learning_rate = 0.5}), "") << "the line search finds the length";
  EXPECT_EQ(refusal_of({.line_search = LineSearch::kNone, .learning_rate = 0.5}), "");
}

TEST(SolverSettings, UsersAreKnownByTheNameOfTheSetting) {
  EXPECT_EQ(solvers_using("history_size"), (std::vector<std::string>{"lbfgs", "owlqn"}));
  EXPECT_EQ(solvers_using("weight_decay"), solver_names());
  EXPECT_TRUE(solvers_using("momentum").empty());
  EXPECT_EQ(used_settings(SolverSettings{.kind = SolverKind::kOwlqn, .l1 = 0.25}).size(), 9U);
}

// The number of vectors is that of the solver and one for the gradient that it is told.
TEST(SolverSettings, TheNumberOfVectorsIsThatOfTheSolvers) {
  solve::OneRank alone;
  const std::vector<double> start(16);
  const std::size_t vector = start.size() * sizeof(double);
  for (const SolverSettings& settings :
       {SolverSettings{.history_size = 3}, SolverSettings{.kind = SolverKind::kOwlqn, .l1 = 1}}) {
    const solve::Lbfgs solver(settings, {}, alone, std::span(start));
    EXPECT_EQ(solver.size_bytes() + vector, static_cast<std::size_t>(num_vectors(settings)) * vector);
  }
  const SolverSettings settings{.kind = SolverKind::kGaussNewton};
  const solve::GaussNewton solver(settings, {}, alone, std::span(start));
  EXPECT_EQ(solver.size_bytes() + vector, static_cast<std::size_t>(num_vectors(settings)) * vector);
}

}  // namespace
}  // namespace cohort

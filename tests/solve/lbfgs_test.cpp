#include "solve/lbfgs.h"
#include "problems.h"

#include <gtest/gtest.h>
#include <limits>

namespace cohort::solve {
namespace {

using test::Function;
using test::on_one_rank;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// So small that only the gradient ends an iteration.
const SolverSettings kPrecise{.tolerance_grad = 1e-10, .tolerance_change = 0};

struct Solved {
  SolverReport report{};
  std::vector<double> point{};
};

Solved solve(const Function& function, const std::vector<double>& start, const SolverSettings& settings,
             std::int64_t iterations = 200, std::vector<Penalty> penalties = {}) {
  OneRank alone;
  Lbfgs solver(settings, std::move(penalties), alone, start);
  Solved solved{.report = value_or_throw(minimize(solver, on_one_rank(function), iterations))};
  solved.point = test::values(solver.point());
  return solved;
}

TEST(Lbfgs, FindsTheMinimumOfAQuadratic) {
  for (const std::size_t size : std::vector<std::size_t>{1, 2, 15, 16, 17, 33, 101}) {
    const Solved solved = solve(test::quadratic, std::vector<double>(size, 0.5), kPrecise);
    EXPECT_EQ(solved.report.end, SolverEnd::kGradient) << size;
    EXPECT_LT(solved.report.evaluations, 200) << size;
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_NEAR(solved.point[i], static_cast<double>(i), 1e-9) << size;
    }
  }
}

TEST(Lbfgs, FollowsTheValleyOfRosenbrock) {
  for (const std::size_t size : std::vector<std::size_t>{2, 10, 50}) {
    const Solved solved = solve(test::rosenbrock, std::vector<double>(size, -1.2), kPrecise, 400);
    EXPECT_EQ(solved.report.end, SolverEnd::kGradient) << size;
    EXPECT_LT(solved.report.evaluations, 400) << size;
    // There is a second minimum with x₀ = −1 for sizes of 4 and more; both have a gradient of 0.
    if (size == 2) EXPECT_NEAR(solved.point[0], 1, 1e-9);
  }
  const Solved known = solve(test::rosenbrock, {-1.2, 1}, kPrecise);
  EXPECT_LT(known.report.evaluations, 60) << "most implementations need about 45";
  EXPECT_NEAR(known.point[1], 1, 1e-9);
}

TEST(Lbfgs, APenaltyMovesTheMinimum) {
  // ½ (i + 1) (x − i)² + ½ 2 x²: at (i + 1) i / (i + 3)
  const Solved solved =
      solve(test::quadratic, std::vector<double>(20), kPrecise, 200, {{.first = 0, .count = 20, .l2 = 2}});
  double value = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    const auto number = static_cast<double>(i);
    const double expected = (number + 1) * number / (number + 3);
    EXPECT_NEAR(solved.point[i], expected, 1e-9);
    value += (number + 1) * (expected - number) * (expected - number) / 2 + expected * expected;
  }
  EXPECT_NEAR(solved.report.loss, value, 1e-9);
}

TEST(Lbfgs, WithoutElementsTheFirstPointIsAMinimum) {
  const Solved solved = solve([](auto, auto) { return 3.0; }, {}, {});
  EXPECT_EQ(solved.report.end, SolverEnd::kGradient);
  EXPECT_EQ(solved.report.loss, 3);
}

TEST(Lbfgs, EndsAtOnceOnAConstantFunction) {
  const Function constant = [](std::span<const double>, std::span<double> gradient) {
    std::fill(gradient.begin(), gradient.end(), 0.0);
    return 7.0;
  };
  const Solved solved = solve(constant, {1, 2}, {});
  EXPECT_EQ(solved.report.end, SolverEnd::kGradient);
  EXPECT_EQ(solved.report.evaluations, 1);
}

TEST(Lbfgs, SaysThatAFunctionFallsWithoutEnd) {
  const Function slope = [](std::span<const double> x, std::span<double> gradient) {
    gradient[0] = -1;
    return -x[0];
  };
  EXPECT_EQ(solve(slope, {0}, {}).report.end, SolverEnd::kUnbounded);
}

TEST(Lbfgs, SaysThatTheFirstPointIsNotFinite) {
  const auto at_first = [](double value, double slope) {
    return solve([=](auto, std::span<double> gradient) { return gradient[0] = slope, value; }, {1}, {});
  };
  EXPECT_EQ(at_first(std::nan(""), 1).report.end, SolverEnd::kNotFinite);
  EXPECT_EQ(at_first(kInfinity, 1).report.end, SolverEnd::kNotFinite);
  EXPECT_EQ(at_first(1, std::nan("")).report.end, SolverEnd::kNotFinite);
  EXPECT_EQ(at_first(1, -kInfinity).report.end, SolverEnd::kNotFinite);
  EXPECT_EQ(at_first(1, 1e200).report.end, SolverEnd::kNotFinite) << "its square is infinite";
}

TEST(Lbfgs, GoesAroundPlacesThatAreNotFinite) {
  const Function logarithm = [](std::span<const double> x, std::span<double> gradient) {
    gradient[0] = 1 - 1 / x[0];
    return x[0] <= 0 ? std::nan("") : x[0] - std::log(x[0]);
  };
  const Solved solved = solve(logarithm, {50}, kPrecise);
  EXPECT_EQ(solved.report.end, SolverEnd::kGradient);
  EXPECT_NEAR(solved.point[0], 1, 1e-9);
}

// A gradient of the wrong sign, as of a closure that forgets a minus.
TEST(Lbfgs, SaysThatThereIsNoProgressWithAWrongGradient) {
  const Function wrong = [](std::span<const double> x, std::span<double> gradient) {
    const double value = test::quadratic(x, gradient);
    for (double& each : gradient) each = -each;
    return value;
  };
  const Solved solved = solve(wrong, {5, 5}, {});
  EXPECT_EQ(solved.report.end, SolverEnd::kNoProgress);
  EXPECT_EQ(solved.point, (std::vector<double>{5, 5})) << "the best point is the first";
  EXPECT_LE(solved.report.evaluations, 1 + 25);
}

TEST(Lbfgs, EndsWhenNothingChanges) {
  const Solved solved = solve(test::rosenbrock, {-1.2, 1}, {.tolerance_grad = 0, .tolerance_change = 1e-3});
  EXPECT_EQ(solved.report.end, SolverEnd::kChange);
  const Solved few = solve(test::rosenbrock, {-1.2, 1}, kPrecise, 3);
  EXPECT_EQ(few.report.end, SolverEnd::kIterations);
  EXPECT_EQ(few.report.iterations, 3);
}

TEST(Lbfgs, WithoutALineSearchStepsHaveTheLengthOfTheLearningRate) {
  const SolverSettings settings{.line_search = LineSearch::kNone, .learning_rate = 0.25};
  const Solved first = solve(test::quadratic, {3}, settings, 1);
  EXPECT_EQ(first.point[0], 3 - 0.25 / 3 * 3) << "the gradient is 3";
  const Solved second = solve(test::quadratic, {3}, settings, 2);
  EXPECT_NEAR(second.point[0], first.point[0] * 0.75, 1e-12) << "the curvature is known";
  EXPECT_EQ(second.report.evaluations, 3);
  const Function nowhere = [](std::span<const double> x, std::span<double> gradient) {
    gradient[0] = 1;
    return x[0] < 0 ? std::nan("") : x[0];
  };
  EXPECT_EQ(solve(nowhere, {0}, settings).report.end, SolverEnd::kNotFinite);
}

// Vectors of f32, as models have: rounding ends progress, and nothing hangs.
TEST(Lbfgs, ComesAsCloseAsF32Allows) {
  std::vector<float> start(40, 0.5F);
  OneRank alone;
  Lbfgs solver({.tolerance_grad = 0, .tolerance_change = 0}, {}, alone, start);
  const Evaluate evaluate = [](ConstNumbers point, Numbers gradient) -> Result<double> {
    const auto* const x = reinterpret_cast<const float*>(point.data);
    std::vector<double> wide(x, x + point.count), g(point.count);
    const double value = test::quadratic(wide, g);
    std::copy(g.begin(), g.end(), reinterpret_cast<float*>(gradient.data));
    return static_cast<double>(static_cast<float>(value + 1));
  };
  const SolverReport report = value_or_throw(minimize(solver, {.evaluate = evaluate}, 500));
  EXPECT_NE(report.end, SolverEnd::kIterations);
  const auto* const x = reinterpret_cast<const float*>(solver.point().data);
  for (std::size_t i = 0; i < start.size(); ++i) EXPECT_NEAR(x[i], static_cast<float>(i), 2e-3F);
}

TEST(Lbfgs, GoesOnFromItsState) {
  OneRank alone;
  const std::vector<double> start(30, -1.2);
  const auto make = [&] {
    return std::make_unique<Lbfgs>(SolverSettings{.history_size = 3}, std::vector<Penalty>{}, alone, start);
  };
  const auto pieces = [](Lbfgs& solver) {
    std::vector<Numbers> all;
    const auto keep = [&](const std::string&, Numbers numbers) { all.push_back(numbers); };
    solver.visit_vectors(keep);
    solver.visit_numbers(keep);
    return all;
  };
  const auto whole = make();
  auto first = make(), second = make();
  value_or_throw(minimize(*whole, on_one_rank(test::rosenbrock), 17));
  for (int iterations : {0, 1, 6}) {
    value_or_throw(minimize(*first, on_one_rank(test::rosenbrock), iterations));
    const auto from = pieces(*first), to = pieces(*second);
    ASSERT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i) copy(from[i], to[i]);
    second->set_point(first->point());
    std::swap(first, second);
  }
  value_or_throw(minimize(*first, on_one_rank(test::rosenbrock), 10));
  EXPECT_EQ(test::values(first->point()), test::values(whole->point()));
  EXPECT_EQ(first->report().evaluations, whole->report().evaluations);
}

}  // namespace
}  // namespace cohort::solve

#include "problems.h"
#include "solve/lbfgs.h"

#include <gtest/gtest.h>
#include <numeric>

namespace cohort::solve {
namespace {

using test::Function;
using test::on_one_rank;

struct Solved {
  SolverReport report{};
  std::vector<double> point{};
};

Solved solve_with_l1(const Function& function, std::vector<double> start, double l1, int iterations = 300) {
  OneRank alone;
  const std::size_t count = start.size();
  Lbfgs solver({.kind = SolverKind::kOwlqn, .tolerance_grad = 1e-9, .tolerance_change = 0, .l1 = l1},
               {{.first = 0, .count = count, .l1 = l1}}, alone, start);
  Solved solved{.report = value_or_throw(minimize(solver, on_one_rank(function), iterations))};
  solved.point = test::values(solver.point());
  return solved;
}

double soft(double number, double threshold) {
  return std::copysign(std::max(std::abs(number) - threshold, 0.0), number);
}

// ½ c (x − b)² + λ |x| has its minimum at soft(b, λ / c).
TEST(Owlqn, ShrinksAndZeroesAsTheFormulaSays) {
  std::vector<double> targets;
  for (int i = 0; i < 50; ++i) targets.push_back((i % 2 == 0 ? 1 : -1) * 0.2 * i);
  const Function separable = [&](std::span<const double> x, std::span<double> gradient) {
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double c = 1 + static_cast<double>(i % 4);
      value += c * (x[i] - targets[i]) * (x[i] - targets[i]) / 2;
      gradient[i] = c * (x[i] - targets[i]);
    }
    return value;
  };
  for (const double start : {0.0, 3.0, -3.0}) {
    const Solved solved = solve_with_l1(separable, std::vector<double>(50, start), 4);
    EXPECT_EQ(solved.report.end, SolverEnd::kGradient) << start;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const double expected = soft(targets[i], 4 / (1 + static_cast<double>(i % 4)));
      EXPECT_NEAR(solved.point[i], expected, 1e-8) << start << ", element " << i;
      if (expected == 0) EXPECT_EQ(solved.point[i], 0) << "exactly, element " << i;
    }
  }
}

// At the minimum every element that is 0 has a slope within ±λ, and every other one a slope of ∓λ.
TEST(Owlqn, MeetsTheConditionsOfAMinimumOfLogisticRegression) {
  const test::Samples samples(300, 40);
  const Function loss = [&](std::span<const double> x, std::span<double> gradient) {
    std::fill(gradient.begin(), gradient.end(), 0.0);
    return test::logistic(samples, 0, samples.size(), x, gradient);
  };
  constexpr double kL1 = 12;
  const Solved solved = solve_with_l1(loss, std::vector<double>(40), kL1);
  EXPECT_EQ(solved.report.end, SolverEnd::kGradient);
  std::vector<double> gradient(40);
  const double value = loss(solved.point, gradient);
  int zeros = 0;
  double norm = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    norm += std::abs(solved.point[i]);
    if (solved.point[i] == 0) {
      ++zeros;
      EXPECT_LE(std::abs(gradient[i]), kL1 + 1e-8);
    } else {
      EXPECT_NEAR(gradient[i], -std::copysign(kL1, solved.point[i]), 1e-8);
    }
  }
  EXPECT_NEAR(solved.report.loss, value + kL1 * norm, 1e-9);
  EXPECT_GT(zeros, 5);
  EXPECT_LT(zeros, 35);
}

TEST(Owlqn, ALargePenaltyMakesAllZero) {
  const Solved solved = solve_with_l1(test::quadratic, std::vector<double>(7, 1), 1e3);
  EXPECT_EQ(solved.point, std::vector<double>(7, 0));
  EXPECT_EQ(solved.report.end, SolverEnd::kGradient);
}

TEST(Owlqn, WithoutAPenaltyItIsLbfgs) {
  OneRank alone;
  const std::vector<double> start(20, -1);
  std::vector<std::vector<double>> points;
  for (const SolverKind kind : {SolverKind::kLbfgs, SolverKind::kOwlqn}) {
    Lbfgs solver({.kind = kind}, {}, alone, start);
    value_or_throw(minimize(solver, on_one_rank(test::rosenbrock), 20));
    points.push_back(test::values(solver.point()));
  }
  EXPECT_EQ(points[0], points[1]);
}

}  // namespace
}  // namespace cohort::solve

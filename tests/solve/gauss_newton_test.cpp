#include "solve/gauss_newton.h"
#include "problems.h"

#include <gtest/gtest.h>
#include <limits>
#include <map>

namespace cohort::solve {
namespace {

using Doubles = std::vector<double>;

/// Residuals and their Jacobian, row by row.
struct Fit {
  Doubles residuals{};
  std::vector<Doubles> jacobian{};
};
using FitAt = std::function<Fit(const Doubles& x)>;

std::span<double> as_doubles(Numbers numbers) {
  return {reinterpret_cast<double*>(numbers.data), numbers.count};
}

Problem problem_of(const FitAt& fit_at) {
  return {.evaluate = [=](ConstNumbers point, Numbers gradient) -> Result<double> {
            const Fit fit = fit_at(test::values(point));
            const std::span<double> g = as_doubles(gradient);
            std::fill(g.begin(), g.end(), 0.0);
            double value = 0;
            for (std::size_t r = 0; r < fit.residuals.size(); ++r) {
              value += fit.residuals[r] * fit.residuals[r] / 2;
              for (std::size_t i = 0; i < g.size(); ++i) g[i] += fit.jacobian[r][i] * fit.residuals[r];
            }
            return value;
          },
          .multiply = [=](ConstNumbers point, ConstNumbers vector, Numbers product) -> Status {
            const Fit fit = fit_at(test::values(point));
            const Doubles v = test::values(vector);
            const std::span<double> p = as_doubles(product);
            std::fill(p.begin(), p.end(), 0.0);
            for (const Doubles& row : fit.jacobian) {
              double along = 0;
              for (std::size_t i = 0; i < v.size(); ++i) along += row[i] * v[i];
              for (std::size_t i = 0; i < v.size(); ++i) p[i] += row[i] * along;
            }
            return {};
          }};
}

struct Fitted {
  SolverReport report{};
  Doubles point{};
};

const SolverSettings kExact{.kind = SolverKind::kGaussNewton, .tolerance_grad = 1e-11, .tolerance_change = 0};

Fitted fit(const FitAt& fit_at, const Doubles& start, const SolverSettings& settings = kExact,
           std::vector<Penalty> penalties = {}) {
  OneRank alone;
  GaussNewton solver(settings, std::move(penalties), alone, std::span(start));
  Fitted fitted{.report = value_or_throw(minimize(solver, problem_of(fit_at), 200))};
  fitted.point = test::values(solver.point());
  return fitted;
}

// x₀ exp(x₁ t) through points that lie on 2 exp(−0.7 t), but for `noise`.
FitAt exponential(double noise) {
  return [=](const Doubles& x) {
    Fit fit;
    for (int i = 0; i < 23; ++i) {
      const double t = i * 0.2, y = 2 * std::exp(-0.7 * t) + noise * std::sin(7.0 * i);
      fit.residuals.push_back(x[0] * std::exp(x[1] * t) - y);
      fit.jacobian.push_back({std::exp(x[1] * t), x[0] * t * std::exp(x[1] * t)});
    }
    return fit;
  };
}

Fit valley(const Doubles& x) {
  return {.residuals = {10 * (x[1] - x[0] * x[0]), 1 - x[0]}, .jacobian = {{-20 * x[0], 10}, {-1, 0}}};
}

TEST(GaussNewton, SolvesLinearLeastSquaresInAFewIterations) {
  const FitAt line = [](const Doubles& x) {
    Fit fit;
    for (int i = 0; i < 11; ++i) {
      fit.residuals.push_back(x[0] + x[1] * i - (3 - 0.5 * i));
      fit.jacobian.push_back({1, static_cast<double>(i)});
    }
    return fit;
  };
  const Fitted found = fit(line, {0, 0});
  EXPECT_EQ(found.report.end, SolverEnd::kGradient);
  EXPECT_NEAR(found.point[0], 3, 1e-10);
  EXPECT_NEAR(found.point[1], -0.5, 1e-10);
  EXPECT_LT(found.report.iterations, 12);
}

TEST(GaussNewton, SolvesNonLinearLeastSquares) {
  const Fitted exact = fit(exponential(0), {1, 0});
  EXPECT_EQ(exact.report.end, SolverEnd::kGradient);
  EXPECT_NEAR(exact.point[0], 2, 1e-9);
  EXPECT_NEAR(exact.point[1], -0.7, 1e-9);
  EXPECT_LT(exact.report.evaluations, 25);
  const Fitted bent = fit(valley, {-1.2, 1});
  EXPECT_EQ(bent.report.end, SolverEnd::kGradient);
  EXPECT_NEAR(bent.point[0], 1, 1e-10);
  EXPECT_NEAR(bent.point[1], 1, 1e-10);
  EXPECT_LT(bent.report.evaluations, 60);
}

// With noise the residuals stay: the gradient, by another formula, is 0 at the point that was found.
TEST(GaussNewton, TheGradientIsZeroWhereResidualsRemain) {
  const Fitted found = fit(exponential(0.1), {1, 0});
  EXPECT_EQ(found.report.end, SolverEnd::kGradient);
  const auto loss_at = [](double a, double b) {
    double sum = 0;
    for (const double each : exponential(0.1)({a, b}).residuals) sum += each * each / 2;
    return sum;
  };
  const double a = found.point[0], b = found.point[1], h = 1e-5;
  EXPECT_NEAR((loss_at(a + h, b) - loss_at(a - h, b)) / (2 * h), 0, 1e-8);
  EXPECT_NEAR((loss_at(a, b + h) - loss_at(a, b - h)) / (2 * h), 0, 1e-8);
  EXPECT_DOUBLE_EQ(found.report.loss, loss_at(a, b));
}

TEST(GaussNewton, APenaltyIsPartOfTheObjectiveAndOfTheMatrix) {
  // ½ (x − 4)² + ½ 3 x²: at 1
  const FitAt one = [](const Doubles& x) { return Fit{.residuals = {x[0] - 4}, .jacobian = {{1}}}; };
  const Fitted found = fit(one, {10}, kExact, {{.first = 0, .count = 1, .l2 = 3}});
  EXPECT_NEAR(found.point[0], 1, 1e-11);
  EXPECT_NEAR(found.report.loss, 4.5 + 1.5, 1e-10);
  EXPECT_LT(found.report.iterations, 8) << "the matrix has the curvature of the penalty";
}

TEST(GaussNewton, RefusesStepsThatDoNotLowerTheLoss) {
  // Without damping the first step from here goes to where the residual is larger: atan has such places.
  const FitAt bend = [](const Doubles& x) {
    return Fit{.residuals = {std::atan(x[0])}, .jacobian = {{1 / (1 + x[0] * x[0])}}};
  };
  const Fitted found = fit(bend, {5});
  EXPECT_EQ(found.report.end, SolverEnd::kGradient);
  EXPECT_NEAR(found.point[0], 0, 1e-10);
  EXPECT_GT(found.report.evaluations, found.report.iterations + 1) << "a step was refused";
}

TEST(GaussNewton, EndsWithAReason) {
  const FitAt nowhere = [](const Doubles&) {
    return Fit{.residuals = {std::numeric_limits<double>::quiet_NaN()}, .jacobian = {{1}}};
  };
  EXPECT_EQ(fit(nowhere, {0}).report.end, SolverEnd::kNotFinite);
  // The Jacobian is wrong: no step in its direction helps.
  const FitAt liar = [](const Doubles& x) { return Fit{.residuals = {x[0]}, .jacobian = {{-1}}}; };
  const Fitted stuck = fit(liar, {1});
  EXPECT_EQ(stuck.report.end, SolverEnd::kNoProgress);
  EXPECT_EQ(stuck.point[0], 1) << "the best point is kept";
  SolverSettings coarse = kExact;
  coarse.tolerance_change = 1e-3;
  coarse.tolerance_grad = 0;
  EXPECT_EQ(fit(exponential(0.1), {1, 0}, coarse).report.end, SolverEnd::kChange);
  EXPECT_EQ(fit([](const Doubles&) { return Fit{}; }, {}).report.end, SolverEnd::kGradient);
}

TEST(GaussNewton, GoesOnFromItsState) {
  OneRank alone;
  const Doubles start{-1.2, 1};
  GaussNewton whole(kExact, {}, alone, std::span(start)), first(kExact, {}, alone, std::span(start)),
      second(kExact, {}, alone, std::span(start));
  const Problem problem = problem_of(valley);
  value_or_throw(minimize(whole, problem, 9));
  value_or_throw(minimize(first, problem, 4));
  std::map<std::string, std::vector<std::byte>> state;
  const auto keep = [&](const std::string& name, Numbers numbers) {
    state[name].assign(numbers.data, numbers.data + numbers.size_bytes());
  };
  const auto fill = [&](const std::string& name, Numbers numbers) {
    std::copy(state[name].begin(), state[name].end(), numbers.data);
  };
  first.visit_vectors(keep);
  first.visit_numbers(keep);
  second.visit_vectors(fill);
  second.visit_numbers(fill);
  second.set_point(first.point());
  value_or_throw(minimize(second, problem, 5));
  EXPECT_EQ(test::values(second.point()), test::values(whole.point()));
  EXPECT_EQ(second.report().evaluations, whole.report().evaluations);
  EXPECT_EQ(second.report().products, whole.report().products);
}

TEST(GaussNewton, BeginsAnewAtAnotherPoint) {
  OneRank alone;
  const Doubles start{-1.2, 1}, other{0.5, 3};
  GaussNewton moved(kExact, {}, alone, std::span(start)), fresh(kExact, {}, alone, std::span(other));
  const Problem problem = problem_of(valley);
  value_or_throw(minimize(moved, problem, 3));
  moved.begin_anew(std::span(other));
  value_or_throw(minimize(moved, problem, 4));
  value_or_throw(minimize(fresh, problem, 4));
  EXPECT_EQ(test::values(moved.point()), test::values(fresh.point()));
}

}  // namespace
}  // namespace cohort::solve

#include "solve/wolfe_search.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <utility>
#include <vector>

namespace cohort::solve {
namespace {

using State = StepSearch::State;
/// Value and slope at a place.
using Line = std::function<std::pair<double, double>(double step)>;

struct Found {
  State state = State::kTry;
  Trial trial{};
  int evaluations = 0;
};

Found search(const Line& line, double first_step, SearchLimits limits = {}) {
  const auto [value, slope] = line(0);
  WolfeSearch search({.step = 0, .value = value, .slope = slope}, first_step, limits);
  Found found;
  while (search.state() == State::kTry) {
    EXPECT_LE(++found.evaluations, limits.evaluations + 1) << "no end";
    found.trial = {.step = search.step(), .value = 0, .slope = 0};
    std::tie(found.trial.value, found.trial.slope) = line(search.step());
    search.tell(found.trial.value, found.trial.slope);
  }
  found.state = search.state();
  return found;
}

void expect_wolfe(const Line& line, double first_step) {
  const auto [value, slope] = line(0);
  const Found found = search(line, first_step);
  ASSERT_EQ(found.state, State::kAccepted) << "first step " << first_step;
  EXPECT_LE(found.evaluations, 20) << "first step " << first_step;
  EXPECT_LE(found.trial.value, value + 1e-4 * found.trial.step * slope) << "first step " << first_step;
  EXPECT_LE(std::abs(found.trial.slope), 0.9 * std::abs(slope)) << "first step " << first_step;
}

/// The slope by a difference, for lines whose derivative is long.
Line with_slope(std::function<double(double)> value) {
  return [value = std::move(value)](double step) {
    const double h = 1e-6 * std::max(step, 1e-3);
    return std::pair(value(step), (value(step + h) - value(step - h)) / (2 * h));
  };
}

// The functions of Moré and Thuente (1994), who made them to be hard: far minima, narrow ones, waves.
const std::vector<Line>& hard_lines() {
  static const std::vector<Line> kLines = {
      [](double a) { return std::pair(-a / (a * a + 2), (a * a - 2) / ((a * a + 2) * (a * a + 2))); },
      [](double a) {
        const double b = a + 0.004;
        return std::pair(std::pow(b, 5) - 2 * std::pow(b, 4), 5 * std::pow(b, 4) - 8 * std::pow(b, 3));
      },
      [](double a) {
        constexpr double kBeta = 0.01, kWaves = 39, kPi = 3.14159265358979323846;
        double value = 0, slope = 0;
        if (a <= 1 - kBeta) {
          value = 1 - a, slope = -1;
        } else if (a >= 1 + kBeta) {
          value = a - 1, slope = 1;
        } else {
          value = (a - 1) * (a - 1) / (2 * kBeta) + kBeta / 2, slope = (a - 1) / kBeta;
        }
        value += 2 * (1 - kBeta) / (kWaves * kPi) * std::sin(kWaves * kPi / 2 * a);
        slope += (1 - kBeta) * std::cos(kWaves * kPi / 2 * a);
        return std::pair(value, slope);
      },
  };
  return kLines;
}

Line yanai(double beta1, double beta2) {
  const auto gamma = [](double beta) { return std::sqrt(1 + beta * beta) - beta; };
  return with_slope([=](double a) {
    return gamma(beta1) * std::hypot(1 - a, beta2) + gamma(beta2) * std::hypot(a, beta1);
  });
}

TEST(WolfeSearch, FindsAStepOfHardFunctionsFromAnyFirstStep) {
  for (const Line& line : hard_lines()) {
    for (const double first : {1e-3, 1e-1, 1.0, 1e1, 1e3}) expect_wolfe(line, first);
  }
}

TEST(WolfeSearch, FindsAStepOfYanaisFunctions) {
  for (const auto& [a, b] : {std::pair(0.001, 0.001), {0.01, 0.001}, {0.001, 0.01}}) {
    for (const double first : {1e-3, 1e-1, 1.0, 1e1, 1e3}) expect_wolfe(yanai(a, b), first);
  }
}

TEST(WolfeSearch, AcceptsAGoodFirstStepAtOnce) {
  const Line parabola = [](double a) { return std::pair((a - 1) * (a - 1), 2 * (a - 1)); };
  const Found found = search(parabola, 1);
  EXPECT_EQ(found.evaluations, 1);
  EXPECT_EQ(found.trial.step, 1);
  EXPECT_EQ(search(parabola, 2).trial.step, 1) << "a cubic polynomial finds the minimum of a parabola";
}

TEST(WolfeSearch, AValueThatIsNotFiniteCountsAsTooHigh) {
  const Line wall = [](double a) {
    const double inf = std::numeric_limits<double>::infinity();
    return a < 0.01 ? std::pair(-a, -1.0) : std::pair(a < 1 ? std::nan("") : inf, a < 2 ? 1.0 : -inf);
  };
  for (const double first : {1e-4, 1.0, 1e6}) {
    const Found found = search(wall, first);
    EXPECT_EQ(found.state, State::kAccepted) << first;
    EXPECT_LT(found.trial.value, 0) << first;
  }
}

TEST(WolfeSearch, HasNoStepWhereEveryStepIsHigher) {
  const Line uphill = [](double a) { return std::pair(a == 0 ? 0.0 : 1 + a, -1.0); };
  EXPECT_EQ(search(uphill, 1).state, State::kFailed);
  const Line not_a_number = [](double a) { return std::pair(a == 0 ? 0.0 : std::nan(""), -1.0); };
  EXPECT_EQ(search(not_a_number, 1).state, State::kFailed);
}

TEST(WolfeSearch, SaysThatALineFallsWithoutEnd) {
  EXPECT_EQ(search([](double a) { return std::pair(-a, -1.0); }, 1).state, State::kUnbounded);
  const Found few = search([](double a) { return std::pair(-a, -1.0); }, 1, {.evaluations = 3});
  EXPECT_EQ(few.state, State::kAccepted) << "the last step was lower";
  EXPECT_EQ(few.evaluations, 3);
}

// Close to a minimum values differ by rounding errors only, but slopes still tell where it is.
TEST(WolfeSearch, SlopesDecideWhereValuesAreRounded) {
  const auto rounded = [](double a) {
    const double value = static_cast<double>(static_cast<float>(1 + (a - 1) * (a - 1) * 1e-9));
    const double wrong_way = value + (a > 0 ? 1e-7 : 0);
    return std::pair(wrong_way, 2 * (a - 1) * 1e-9);
  };
  EXPECT_EQ(search(rounded, 1.2, {.evaluations = 25, .noise = 1e-6}).state, State::kAccepted);
  EXPECT_EQ(search(rounded, 1.2).state, State::kFailed);
}

TEST(WolfeSearch, TheBestTrialIsEvaluatedAgainIfTheLastWasNot) {
  int calls = 0;
  const Line line = [&](double a) {  // the second trial is worse than the first
    ++calls;
    return a < 1.5 ? std::pair(-a, -1.0) : std::pair(5.0, 1.0);
  };
  const Found found = search(line, 1, {.evaluations = 2});
  EXPECT_EQ(found.state, State::kAccepted);
  EXPECT_EQ(found.trial.step, 1);
  EXPECT_EQ(found.evaluations, 3);
}

TEST(Backtracking, HalvesUntilTheValueFalls) {
  Backtracking search(/*start_value=*/0, /*first_step=*/1, {});
  search.tell(std::nan(""), -1);
  search.tell(3, -0.5);
  EXPECT_EQ(search.step(), 0.25);
  search.tell(-1e-9, -0.25);
  EXPECT_EQ(search.state(), State::kTry) << "fallen too little";
  search.tell(-0.1, -0.125);
  EXPECT_EQ(search.state(), State::kAccepted);
}

TEST(Backtracking, EndsAtTheLimit) {
  Backtracking search(0, 1, {.evaluations = 3});
  for (int i = 0; i < 3; ++i) search.tell(1, -1);
  EXPECT_EQ(search.state(), State::kFailed);
}

TEST(FixedStep, TakesAnyFiniteValue) {
  FixedStep good(0.5), bad(0.5);
  good.tell(1e30, 7);
  EXPECT_EQ(good.state(), State::kAccepted);
  bad.tell(std::nan(""), 0);
  EXPECT_EQ(bad.state(), State::kFailed);
}

}  // namespace
}  // namespace cohort::solve

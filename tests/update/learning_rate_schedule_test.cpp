#include <cohort/learning_rate_schedule.h>

#include <cohort/error.h>

#include "update/schedule.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

namespace cohort {
namespace {

using namespace learning_rate;  // NOLINT: every curve is tested here

constexpr double kRate = 0.5;
constexpr std::int64_t kFar = 1'000'000'000'000;

double rate(const Curve& curve, std::int64_t step) {
  return learning_rate_at({.curve = curve}, kRate, step);
}

TEST(LearningRateSchedule, IsConstant) {
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, kFar}) {
    EXPECT_EQ(rate(Constant{}, step), 0.5);
  }
}

TEST(LearningRateSchedule, FallsInSteps) {
  const Step steps{.step_size = 10, .gamma = 0.25};
  EXPECT_EQ(rate(steps, 0), 0.5);
  EXPECT_EQ(rate(steps, 9), 0.5);
  EXPECT_EQ(rate(steps, 10), 0.125);
  EXPECT_EQ(rate(steps, 19), 0.125);
  EXPECT_EQ(rate(steps, 20), 0.03125);
}

TEST(LearningRateSchedule, FallsAtMilestones) {
  const MultiStep steps{.milestones = {3, 4, 11}, .gamma = 0.5};
  EXPECT_EQ(rate(steps, 2), 0.5);
  EXPECT_EQ(rate(steps, 3), 0.25);
  EXPECT_EQ(rate(steps, 4), 0.125);
  EXPECT_EQ(rate(steps, 10), 0.125);
  EXPECT_EQ(rate(steps, 11), 0.0625);
  EXPECT_EQ(rate(steps, kFar), 0.0625);
  EXPECT_EQ(rate(MultiStep{}, kFar), 0.5);
}

TEST(LearningRateSchedule, FallsExponentially) {
  const Exponential exponential{.step_size = 10, .gamma = 0.25};
  EXPECT_EQ(rate(exponential, 0), 0.5);
  EXPECT_DOUBLE_EQ(rate(exponential, 5), 0.25);
  EXPECT_DOUBLE_EQ(rate(exponential, 10), 0.125);
}

TEST(LearningRateSchedule, FallsAsAnInverseSquareRoot) {
  const InverseSquareRoot root{.timescale = 5};
  EXPECT_EQ(rate(root, 0), 0.5);
  EXPECT_DOUBLE_EQ(rate(root, 5), 0.5 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(rate(root, 15), 0.25);
  EXPECT_DOUBLE_EQ(rate(root, 75), 0.125);
}

TEST(LearningRateSchedule, FallsAlongAPolynomialAndStaysAtItsEnd) {
  const Polynomial square{.total_steps = 4, .power = 2, .eta_min = 0.25};
  EXPECT_EQ(rate(square, 0), 0.5);
  EXPECT_DOUBLE_EQ(rate(square, 1), 0.25 + 0.25 * 9 / 16);
  EXPECT_DOUBLE_EQ(rate(square, 3), 0.25 + 0.25 / 16);
  EXPECT_EQ(rate(square, 4), 0.25);
  EXPECT_EQ(rate(square, kFar), 0.25);
  EXPECT_DOUBLE_EQ(rate(Polynomial{.total_steps = 5}, 2), 0.5 * 3 / 5);
}

TEST(LearningRateSchedule, FallsAlongACosineAndStaysAtItsEnd) {
  const Cosine cosine{.t_max = 10, .eta_min = 0.125};
  EXPECT_EQ(rate(cosine, 0), 0.5);
  EXPECT_DOUBLE_EQ(rate(cosine, 5), (0.5 + 0.125) / 2);
  EXPECT_EQ(rate(cosine, 10), 0.125);
  EXPECT_EQ(rate(cosine, 1000), 0.125);
  for (int step = 0; step < 10; ++step) EXPECT_GT(rate(cosine, step), rate(cosine, step + 1)) << step;
}

// A cosine of 3 steps, of 6, of 12: each begins with the whole learning rate and falls as a Cosine does.
TEST(LearningRateSchedule, RestartsTheCosine) {
  const CosineRestarts restarts{.t_0 = 3, .t_mult = 2, .eta_min = 0.125};
  std::int64_t begin = 0;
  for (const std::int64_t length : {3, 6, 12, 24}) {
    const Cosine cosine{.t_max = length, .eta_min = 0.125};
    for (std::int64_t t = 0; t < length; ++t) {
      EXPECT_DOUBLE_EQ(rate(restarts, begin + t), rate(cosine, t)) << begin << " + " << t;
    }
    begin += length;
  }
  const CosineRestarts equal{.t_0 = 7};
  EXPECT_EQ(rate(equal, 7 * 1'000'000), 0.5);
  EXPECT_DOUBLE_EQ(rate(equal, 7 * 1'000'000 + 3), rate(Cosine{.t_max = 7}, 3));
  EXPECT_GE(rate({CosineRestarts{.t_0 = 1'000'000'000, .t_mult = 1000}}, kFar * 1'000'000), 0.0);
}

// Ten steps, pct_start = 0.3: up in steps 0, 1, 2, then down to the end in step 9.
TEST(LearningRateSchedule, GoesUpAndDownInOneCycle) {
  const OneCycle cycle{.total_steps = 10,
                       .anneal_strategy = OneCycle::Anneal::kLinear,
                       .base_momentum = 0.5,
                       .max_momentum = 0.75,
                       .div_factor = 4,
                       .final_div_factor = 8};
  EXPECT_DOUBLE_EQ(rate(cycle, 0), 0.125);
  EXPECT_DOUBLE_EQ(rate(cycle, 1), (0.125 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(rate(cycle, 2), 0.5);
  EXPECT_DOUBLE_EQ(rate(cycle, 9), 0.125 / 8);
  EXPECT_DOUBLE_EQ(rate(cycle, 1000), 0.125 / 8);
  const LearningRateSchedule schedule{.curve = cycle, .warmup = {.steps = 3}};
  EXPECT_DOUBLE_EQ(*momentum_at(schedule, 0), 0.75) << "in the warm-up";
  EXPECT_DOUBLE_EQ(*momentum_at(schedule, 3 + 0), 0.75);
  EXPECT_DOUBLE_EQ(*momentum_at(schedule, 3 + 2), 0.5);
  EXPECT_DOUBLE_EQ(*momentum_at(schedule, 3 + 9), 0.75);
  OneCycle without = cycle;
  without.cycle_momentum = false;
  EXPECT_FALSE(momentum_at({.curve = without}, 0));
  EXPECT_FALSE(momentum_at({}, 0));
}

TEST(LearningRateSchedule, ACycleOfThreePhasesComesBackToItsBeginning) {
  const OneCycle cycle{
      .total_steps = 20, .pct_start = 0.4, .div_factor = 4, .final_div_factor = 8, .three_phase = true};
  EXPECT_DOUBLE_EQ(rate(cycle, 0), 0.125);
  EXPECT_DOUBLE_EQ(rate(cycle, 7), 0.5);
  EXPECT_DOUBLE_EQ(rate(cycle, 14), 0.125);
  EXPECT_DOUBLE_EQ(rate(cycle, 19), 0.125 / 8);
}

TEST(LearningRateSchedule, TheShortestCyclesHaveNumbers) {
  for (const double pct_start : {0.0, 0.5, 1.0}) {
    for (const std::int64_t total_steps : {1, 2, 3}) {
      for (std::int64_t t = 0; t < 4; ++t) {
        const double found = rate(OneCycle{.total_steps = total_steps, .pct_start = pct_start}, t);
        EXPECT_TRUE(found > 0 && found <= 0.5) << total_steps << " steps, " << pct_start << ": " << found;
      }
    }
  }
}

TEST(LearningRateSchedule, IsStableAndDecays) {
  StableDecay decay{.total_steps = 20, .decay_steps = 4, .eta_min = 0.25};
  EXPECT_EQ(rate(decay, 0), 0.5);
  EXPECT_EQ(rate(decay, 16), 0.5);
  EXPECT_DOUBLE_EQ(rate(decay, 17), 0.25 + 0.25 * 3 / 4);
  EXPECT_EQ(rate(decay, 20), 0.25);
  EXPECT_EQ(rate(decay, kFar), 0.25);
  decay.decay = StableDecay::Shape::kSquareRoot;
  EXPECT_DOUBLE_EQ(rate(decay, 17), 0.25 + 0.25 * (1 - std::sqrt(0.25)));
  decay.decay = StableDecay::Shape::kCosine;
  EXPECT_DOUBLE_EQ(rate(decay, 17), 0.25 + 0.25 * (1 + std::cos(std::numbers::pi / 4)) / 2);
}

TEST(LearningRateSchedule, WarmsUpBeforeAnyOfThem) {
  const Curve curves[] = {Constant{},
                          Step{},
                          MultiStep{},
                          Exponential{},
                          InverseSquareRoot{},
                          Polynomial{},
                          Cosine{.t_max = 10},
                          CosineRestarts{},
                          OneCycle{.total_steps = 10, .div_factor = 1},
                          StableDecay{},
                          Plateau{}};
  for (const Curve& curve : curves) {
    const LearningRateSchedule warm{.curve = curve, .warmup = {.steps = 4}};
    EXPECT_EQ(learning_rate_at(warm, kRate, 0), 0.125);
    EXPECT_EQ(learning_rate_at(warm, kRate, 1), 0.25);
    EXPECT_EQ(learning_rate_at(warm, kRate, 3), 0.5);
    for (std::int64_t t = 0; t < 10; ++t) {
      EXPECT_EQ(learning_rate_at(warm, kRate, 4 + t), rate(curve, t)) << "after the warm-up";
    }
  }
}

TEST(LearningRateSchedule, WarmsUpInShapes) {
  const auto warm = [](const WarmUp& warmup, std::int64_t step) {
    return learning_rate_at({.warmup = warmup}, kRate, step);
  };
  const WarmUp linear{.steps = 4, .start_factor = 0.25};
  EXPECT_DOUBLE_EQ(warm(linear, 0), 0.125);
  EXPECT_DOUBLE_EQ(warm(linear, 2), 0.5 * (0.25 + 0.75 / 2));
  EXPECT_EQ(warm(linear, 4), 0.5);
  const WarmUp constant{.steps = 4, .shape = WarmUp::Shape::kConstant};
  EXPECT_DOUBLE_EQ(warm(constant, 3), 0.5 / 3);
  EXPECT_EQ(warm(constant, 4), 0.5);
  const WarmUp exponential{.steps = 4, .shape = WarmUp::Shape::kExponential, .start_factor = 0.0625};
  EXPECT_DOUBLE_EQ(warm(exponential, 0), 0.5 / 16);
  EXPECT_DOUBLE_EQ(warm(exponential, 2), 0.5 / 4);
  EXPECT_DOUBLE_EQ(warm(exponential, 3), 0.5 / 2);
  EXPECT_EQ(warm(exponential, 4), 0.5);
}

TEST(LearningRateSchedule, ScalesWithTheBatch) {
  EXPECT_EQ(batch_factor({}, 1000), 1.0);
  EXPECT_EQ(batch_factor({.rule = BatchScaling::Rule::kLinear, .base_batch_size = 64}, 1024), 16.0);
  EXPECT_EQ(batch_factor({.rule = BatchScaling::Rule::kSquareRoot, .base_batch_size = 64}, 1024), 4.0);
  EXPECT_EQ(batch_factor({.rule = BatchScaling::Rule::kLinear, .base_batch_size = 64}, 16), 0.25);
}

TEST(LearningRateSchedule, ANegativeStepIsABug) {
  EXPECT_THROW(learning_rate_at({}, kRate, -1), BugError);
}

std::string refusal(const LearningRateSchedule& schedule) {
  const Status found = check_schedule(schedule);
  return found ? "" : found.error().message();
}

TEST(CheckSchedule, SettingsThatMakeNoSenseAreNamed) {
  const double nan = std::nan("");
  const std::pair<LearningRateSchedule, const char*> wrong[] = {
      {{.curve = Step{.step_size = 0}}, "learning_rate::Step::step_size is 0"},
      {{.curve = Step{.gamma = nan}}, "learning_rate::Step::gamma is nan"},
      {{.curve = MultiStep{.milestones = {3, 3}}}, "milestones has 3 after 3"},
      {{.curve = MultiStep{.milestones = {0}}}, "milestones has 0 after 0"},
      {{.curve = Exponential{.gamma = 0}}, "gamma is 0, expected a finite number, above 0"},
      {{.curve = InverseSquareRoot{.timescale = 0}}, "timescale is 0"},
      {{.curve = Polynomial{.power = -1}}, "power is -1"},
      {{.curve = Cosine{.t_max = 0}}, "t_max is 0"},
      {{.curve = CosineRestarts{.t_mult = 0}}, "t_mult is 0"},
      {{.curve = OneCycle{.pct_start = 1.5}}, "pct_start is 1.5, expected a number at least 0 and at most 1"},
      {{.curve = OneCycle{.pct_start = 0.75, .three_phase = true}}, "pct_start is 0.75"},
      {{.curve = OneCycle{.base_momentum = 0}}, "base_momentum is 0, expected a number above 0 and below 1"},
      {{.curve = OneCycle{.base_momentum = 0.9, .max_momentum = 0.8}}, "max_momentum is 0.8"},
      {{.curve = StableDecay{.total_steps = 3, .decay_steps = 4}}, "decay_steps is 4"},
      {{.curve = Plateau{.factor = 1}}, "factor is 1"},
      {{.curve = Plateau{.patience = -1}}, "patience is -1"},
      {{.curve = Plateau{.threshold = 2}}, "threshold is 2"},
      {{.warmup = {.steps = -1}}, "WarmUp::steps is -1"},
      {{.warmup = {.steps = 2, .start_factor = 0}}, "WarmUp::start_factor is 0"},
      {{.scale_with_batch = {.rule = BatchScaling::Rule::kLinear}}, "BatchScaling::base_batch_size is 0"}};
  for (const auto& [schedule, text] : wrong) {
    EXPECT_NE(refusal(schedule).find(text), std::string::npos) << text << "\n" << refusal(schedule);
  }
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({.curve = OneCycle{}}), "");
  EXPECT_EQ(refusal({.curve = Plateau{}}), "");
}

// Ranks compare schedules by this text.
TEST(ScheduleText, TellsEverySettingApart) {
  const LearningRateSchedule schedules[] = {{},
                                            {.warmup = {.steps = 1}},
                                            {.warmup = {.shape = WarmUp::Shape::kConstant}},
                                            {.warmup = {.start_factor = 0.5}},
                                            {.scale_with_batch = {.rule = BatchScaling::Rule::kLinear}},
                                            {.scale_with_batch = {.base_batch_size = 2}},
                                            {.curve = Step{}},
                                            {.curve = Step{.gamma = 0.1 + 1e-16}},
                                            {.curve = MultiStep{}},
                                            {.curve = MultiStep{.milestones = {1, 2}}},
                                            {.curve = MultiStep{.milestones = {12}}},
                                            {.curve = OneCycle{}},
                                            {.curve = OneCycle{.three_phase = true}},
                                            {.curve = OneCycle{.max_momentum = 0.9}},
                                            {.curve = StableDecay{}},
                                            {.curve = StableDecay{.decay = StableDecay::Shape::kCosine}},
                                            {.curve = Plateau{}},
                                            {.curve = Plateau{.metric = Plateau::Metric::kTraining}},
                                            {.curve = Plateau{.eps = 0}}};
  for (const auto& one : schedules) {
    for (const auto& other : schedules)
      EXPECT_EQ(text_of(one) == text_of(other), one == other) << text_of(one);
  }
}

}  // namespace
}  // namespace cohort

#include <cohort/learning_rate_schedule.h>

#include <cohort/error.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

using Kind = LearningRateScheduleKind;

constexpr Kind kAllKinds[] = {Kind::kConstant, Kind::kStep, Kind::kExponential, Kind::kCosine};
constexpr double kRate = 0.5;

LearningRateSchedule schedule(Kind kind) {
  return {.kind = kind, .step_size = 10, .gamma = 0.25, .t_max = 10, .eta_min = 0.125};
}

double rate(const LearningRateSchedule& schedule, std::int64_t step) {
  return learning_rate_at(schedule, kRate, step);
}

TEST(LearningRateSchedule, IsConstant) {
  for (const std::int64_t step : {0l, 1l, 1'000'000'000'000l}) {
    EXPECT_EQ(rate(schedule(Kind::kConstant), step), 0.5);
  }
}

TEST(LearningRateSchedule, FallsInSteps) {
  const LearningRateSchedule steps = schedule(Kind::kStep);
  EXPECT_EQ(rate(steps, 0), 0.5);
  EXPECT_EQ(rate(steps, 9), 0.5);
  EXPECT_EQ(rate(steps, 10), 0.125);
  EXPECT_EQ(rate(steps, 19), 0.125);
  EXPECT_EQ(rate(steps, 20), 0.03125);
}

TEST(LearningRateSchedule, FallsExponentially) {
  const LearningRateSchedule exponential = schedule(Kind::kExponential);
  EXPECT_EQ(rate(exponential, 0), 0.5);
  EXPECT_DOUBLE_EQ(rate(exponential, 5), 0.25);
  EXPECT_DOUBLE_EQ(rate(exponential, 10), 0.125);
}

TEST(LearningRateSchedule, FallsAlongACosineAndStaysAtItsEnd) {
  const LearningRateSchedule cosine = schedule(Kind::kCosine);
  EXPECT_EQ(rate(cosine, 0), 0.5);
  EXPECT_DOUBLE_EQ(rate(cosine, 5), (0.5 + 0.125) / 2);
  EXPECT_EQ(rate(cosine, 10), 0.125);
  EXPECT_EQ(rate(cosine, 1000), 0.125);
  for (int step = 0; step < 10; ++step) EXPECT_GT(rate(cosine, step), rate(cosine, step + 1)) << step;
}

TEST(LearningRateSchedule, WarmsUpBeforeAnyOfThem) {
  for (const Kind kind : kAllKinds) {
    LearningRateSchedule warm = schedule(kind);
    warm.warmup_steps = 4;
    EXPECT_EQ(rate(warm, 0), 0.125);
    EXPECT_EQ(rate(warm, 1), 0.25);
    EXPECT_EQ(rate(warm, 3), 0.5);
  }
}

// The last value of the warm-up and the first of the schedule are equal: step 4 cannot tell them apart, later
// steps can.
TEST(LearningRateSchedule, BeginsAfterTheWarmUp) {
  const auto warm = [](Kind kind) {
    LearningRateSchedule made = schedule(kind);
    made.warmup_steps = 4;
    return made;
  };
  EXPECT_EQ(rate(warm(Kind::kConstant), 4 + 35), 0.5);
  EXPECT_EQ(rate(warm(Kind::kStep), 4 + 9), 0.5);
  EXPECT_EQ(rate(warm(Kind::kStep), 4 + 10), 0.125);
  EXPECT_DOUBLE_EQ(rate(warm(Kind::kExponential), 4 + 5), 0.25);
  EXPECT_DOUBLE_EQ(rate(warm(Kind::kCosine), 4 + 5), (0.5 + 0.125) / 2);
  EXPECT_GT(rate(warm(Kind::kCosine), 4 + 9), 0.125);
  EXPECT_EQ(rate(warm(Kind::kCosine), 4 + 10), 0.125);
}

TEST(LearningRateSchedule, ANegativeStepIsABug) {
  EXPECT_THROW(rate(schedule(Kind::kConstant), -1), BugError);
}

}  // namespace
}  // namespace cohort

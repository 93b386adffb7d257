#include "update/schedule.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

UpdateConfig config(const std::string& schedule) {
  UpdateConfig config;
  config.learning_rate = 0.5;
  config.schedule = schedule;
  config.schedule_steps = 10;
  config.schedule_factor = 0.25;
  config.final_learning_rate = 0.125;
  return config;
}

Schedule schedule(const std::string& kind) {
  return value_or_throw(make_schedule(config(kind)));
}

std::string refusal(const UpdateConfig& wrong) {
  const auto made = make_schedule(wrong);
  if (made) return "";
  EXPECT_EQ(made.error().code(), ErrorCode::kUsage);
  return made.error().text();
}

TEST(Schedule, IsConstant) {
  for (const std::int64_t step : {0l, 1l, 1'000'000'000'000l}) {
    EXPECT_EQ(learning_rate(schedule("constant"), step), 0.5);
  }
}

TEST(Schedule, FallsInSteps) {
  const Schedule steps = schedule("step");
  EXPECT_EQ(learning_rate(steps, 0), 0.5);
  EXPECT_EQ(learning_rate(steps, 9), 0.5);
  EXPECT_EQ(learning_rate(steps, 10), 0.125);
  EXPECT_EQ(learning_rate(steps, 19), 0.125);
  EXPECT_EQ(learning_rate(steps, 20), 0.03125);
}

TEST(Schedule, FallsExponentially) {
  const Schedule exponential = schedule("exponential");
  EXPECT_EQ(learning_rate(exponential, 0), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(exponential, 5), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(exponential, 10), 0.125);
}

TEST(Schedule, FallsAlongACosineAndStaysThere) {
  const Schedule cosine = schedule("cosine");
  EXPECT_EQ(learning_rate(cosine, 0), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(cosine, 5), (0.5 + 0.125) / 2);
  EXPECT_EQ(learning_rate(cosine, 10), 0.125);
  EXPECT_EQ(learning_rate(cosine, 1000), 0.125);
  for (int step = 0; step < 10; ++step) {
    EXPECT_GT(learning_rate(cosine, step), learning_rate(cosine, step + 1)) << step;
  }
}

TEST(Schedule, WarmsUpBeforeAnyOfThem) {
  for (const char* const kind : {"constant", "step", "exponential", "cosine"}) {
    UpdateConfig warm = config(kind);
    warm.warmup_steps = 4;
    const Schedule made = value_or_throw(make_schedule(warm));
    EXPECT_EQ(learning_rate(made, 0), 0.125) << kind;
    EXPECT_EQ(learning_rate(made, 1), 0.25) << kind;
    EXPECT_EQ(learning_rate(made, 3), 0.5) << kind;
    for (const std::int64_t step : {0l, 1l, 7l, 10l, 11l, 35l}) {
      EXPECT_EQ(learning_rate(made, 4 + step), learning_rate(schedule(kind), step)) << kind << " " << step;
    }
  }
}

TEST(Schedule, KeepsItsCurveForAnotherRate) {
  for (const char* const kind : {"constant", "step", "exponential", "cosine"}) {
    const Schedule quarter = scaled_to(schedule(kind), 0.125);
    for (const std::int64_t step : {0l, 3l, 10l, 25l}) {
      EXPECT_DOUBLE_EQ(learning_rate(quarter, step), learning_rate(schedule(kind), step) / 4) << kind;
    }
  }
}

TEST(Schedule, SaysWhatIsWrong) {
  EXPECT_EQ(refusal(config("cosin")), "update.schedule = 'cosin' is unknown. Did you mean 'cosine'?");
  EXPECT_EQ(refusal(config("zigzag")),
            "update.schedule = 'zigzag' is unknown. Take one of: constant, step, exponential, cosine.");

  UpdateConfig wrong = config("step");
  wrong.schedule_steps = 0;
  EXPECT_EQ(
      refusal(wrong),
      "update.schedule_steps = 0 is less than 1. Schedule 'step' needs the number of steps of one factor.");
  wrong.schedule = "constant";
  EXPECT_EQ(refusal(wrong), "");

  wrong = config("exponential");
  wrong.schedule_factor = 0;
  EXPECT_EQ(refusal(wrong), "update.schedule_factor = 0 is not a number above 0");

  wrong = config("cosine");
  wrong.final_learning_rate = 0.75;
  EXPECT_EQ(refusal(wrong),
            "update.final_learning_rate = 0.75 is more than update.learning_rate = 0.5. A cosine goes down.");

  wrong = config("constant");
  wrong.learning_rate = -1;
  EXPECT_EQ(refusal(wrong), "update.learning_rate = -1 is not a number of at least 0");

  wrong = config("constant");
  wrong.warmup_steps = -1;
  EXPECT_EQ(refusal(wrong), "update.warmup_steps = -1 is less than 0");
}

}  // namespace
}  // namespace cohort

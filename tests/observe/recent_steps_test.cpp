#include "observe/recent_steps.h"

#include <gtest/gtest.h>

namespace cohort::observe {
namespace {

StepReport step(double seconds, std::int64_t samples) {
  return {.samples = samples, .seconds = seconds};
}

TEST(RecentSteps, NothingIsZero) {
  const RecentSteps recent;
  EXPECT_EQ(recent.samples_per_second(), 0);
  EXPECT_EQ(recent.seconds_per_step(), 0);
  EXPECT_EQ(recent.communication_share(), 0);
  EXPECT_EQ(recent.stall_share(), 0);
}

TEST(RecentSteps, OldStepsAreForgotten) {
  RecentSteps recent(4);
  for (int i = 0; i < 10; ++i) recent.add(step(1, 8));
  EXPECT_EQ(recent.samples_per_second(), 8);
  for (int i = 0; i < 3; ++i) recent.add(step(1, 16));
  EXPECT_EQ(recent.samples_per_second(), (8 + 3 * 16) / 4.0);
  recent.add(step(1, 16));
  EXPECT_EQ(recent.samples_per_second(), 16);
}

TEST(RecentSteps, AStepLongerThanTheWindowIsKept) {
  RecentSteps recent(4);
  recent.add(step(1, 8));
  recent.add(step(64, 32));
  EXPECT_EQ(recent.samples_per_second(), 0.5);
  EXPECT_EQ(recent.seconds_per_step(), 64);
}

TEST(RecentSteps, LongStepsCountMore) {
  RecentSteps recent(10);
  recent.add({.samples = 1, .seconds = 1, .communication_seconds = 1});
  recent.add({.samples = 1, .seconds = 3, .stall_seconds = 2});
  EXPECT_EQ(recent.communication_share(), 0.25);
  EXPECT_EQ(recent.stall_share(), 0.5);
  EXPECT_EQ(recent.seconds_per_step(), 2);
}

TEST(RecentSteps, StepsWithoutTimeAreNoDivisionByZero) {
  RecentSteps recent;
  recent.add(step(0, 8));
  EXPECT_EQ(recent.samples_per_second(), 0);
}

}  // namespace
}  // namespace cohort::observe

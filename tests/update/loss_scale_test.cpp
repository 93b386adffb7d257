#include "update/loss_scale.h"

#include <gtest/gtest.h>
#include <limits>

namespace cohort {
namespace {

constexpr ScaleOptions kOptions{.init_scale = 1024, .growth_interval = 3};

ScaleState after(const ScaleOptions& options, std::initializer_list<bool> overflows) {
  ScaleState state = first_scale(options);
  for (const bool overflow : overflows) state = next_scale(options, state, overflow);
  return state;
}

TEST(LossScale, GrowsAfterStepsWithoutOverflow) {
  EXPECT_EQ(after(kOptions, {false, false}).scale, 1024);
  EXPECT_EQ(after(kOptions, {false, false, false}).scale, 2048);
  EXPECT_EQ(after(kOptions, {false, false, false}).growth_tracker, 0);
}

TEST(LossScale, FallsAfterAnOverflowAndCountsAnew) {
  EXPECT_EQ(after(kOptions, {false, false, true}), (ScaleState{.scale = 512, .overflows_in_row = 1}));
  EXPECT_EQ(after(kOptions, {false, false, true, false}), (ScaleState{.scale = 512, .growth_tracker = 1}));
}

TEST(LossScale, ToleratesSomeOverflows) {
  ScaleOptions patient = kOptions;
  patient.hysteresis = 3;
  EXPECT_EQ(after(patient, {true, true}).scale, 1024);
  EXPECT_EQ(after(patient, {true, true, true}).scale, 512);
  EXPECT_EQ(after(patient, {true, true, true, true}).scale, 256);
  EXPECT_EQ(after(patient, {true, true, false, true, true}).scale, 1024);  // not in a row
  EXPECT_EQ(after(patient, {false, false, true, false, false}).scale, 1024);
}

TEST(LossScale, StaysAtTheLargestFloat) {
  const ScaleOptions options{.init_scale = 3e38, .growth_interval = 1};
  EXPECT_EQ(after(options, {false}), (ScaleState{.scale = static_cast<float>(3e38)}));
}

TEST(LossScale, IsRoundedToFloat) {
  const ScaleOptions options{.init_scale = 1, .growth_factor = 1.1, .growth_interval = 1};
  EXPECT_EQ(after(options, {false, false}).scale, static_cast<float>(static_cast<float>(1.1) * 1.1));
}

}  // namespace
}  // namespace cohort

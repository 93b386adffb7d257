// Averages and masks after an update.

#include "spans.h"
#include "update/average.h"
#include "update/bf16.h"
#include "update/mask.h"
#include "update/post_step.h"
#include <cohort/error.h>

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

namespace cohort {
namespace {

using update::PostSpans;

constexpr float kPostNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kPostInfinity = std::numeric_limits<float>::infinity();

std::vector<float> drawn(std::size_t count, std::uint64_t stream) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(RandomStream(11, stream).normal(i));
  }
  return values;
}

/// The averages of `steps` draws, in f64 by the formula as it is written.
std::vector<double> expected_average(const AverageOptions& options, std::size_t count, int steps) {
  std::vector<double> average(count);
  for (int n = 0; n < steps; ++n) {
    const std::vector<float> values = drawn(count, static_cast<std::uint64_t>(n));
    double decay = options.decay;
    if (options.warmup) decay = std::min(decay, (1.0 + n) / (10.0 + n));
    for (std::size_t i = 0; i < count; ++i) {
      const double p = values[i];
      if (n == 0) {
        average[i] = p;
      } else if (options.kind == AverageKind::kEma) {
        average[i] = decay * average[i] + (1 - decay) * p;
      } else {
        average[i] = (average[i] * n + p) / (n + 1);
      }
    }
  }
  return average;
}

std::vector<float> found_average(const AverageOptions& options, std::size_t count, int steps) {
  std::vector<float> average(count, 77);
  for (int n = 0; n < steps; ++n) {
    const std::vector<float> values = drawn(count, static_cast<std::uint64_t>(n));
    update::add_to_average(values.data(), average.data(), count, update::average_share(options, n));
  }
  return average;
}

TEST(Averages, FollowTheFormula) {
  const AverageOptions all[] = {{.kind = AverageKind::kEma, .decay = 0.9},
                                {.kind = AverageKind::kEma, .decay = 0.25},
                                {.kind = AverageKind::kEma, .decay = 0},
                                {.kind = AverageKind::kEma, .decay = 0.999, .warmup = true},
                                {.kind = AverageKind::kSwa}};
  for (const AverageOptions& options : all) {
    for (const std::size_t count : kAwkwardCounts) {
      for (const int steps : {1, 2, 3, 29}) {
        const auto expected = expected_average(options, count, steps);
        const auto found = found_average(options, count, steps);
        for (std::size_t i = 0; i < count; ++i) {
          // Each step rounds three times, by half a unit of numbers below 8, and forgets part of it.
          ASSERT_NEAR(found[i], expected[i], 3 * steps * 0x1p-22) << count << " " << steps;
        }
      }
    }
  }
}

TEST(Averages, TheFirstIsACopyAndEqualNumbersStay) {
  std::vector<float> values = drawn(1031, 5), average(1031, kPostNan);
  const AverageOptions options{.kind = AverageKind::kEma, .decay = 0.3};
  update::add_to_average(values.data(), average.data(), values.size(), update::average_share(options, 0));
  EXPECT_EQ(average, values);
  for (const double decay : {0.0, 0.3, 0.7, 0.999}) {
    const AverageOptions other{.kind = AverageKind::kEma, .decay = decay};
    update::add_to_average(values.data(), average.data(), values.size(), update::average_share(other, 3));
    EXPECT_EQ(average, values) << decay;
  }
}

TEST(Averages, AreDueFromTheirStartOn) {
  const auto due = [](const AverageOptions& options) {
    std::vector<int> updates;
    for (int update = 1; update <= 12; ++update) {
      if (update::is_average_due(options, update)) updates.push_back(update);
    }
    return updates;
  };
  EXPECT_EQ(due({}), std::vector<int>());
  EXPECT_EQ(due({.kind = AverageKind::kSwa}).size(), 12u);
  EXPECT_EQ(due({.kind = AverageKind::kSwa, .every = 5}), (std::vector<int>{5, 10}));
  EXPECT_EQ(due({.kind = AverageKind::kSwa, .start = 1, .every = 5}), (std::vector<int>{1, 6, 11}));
  EXPECT_EQ(due({.kind = AverageKind::kEma, .start = 7, .every = 3}), (std::vector<int>{7, 10}));
  EXPECT_EQ(due({.kind = AverageKind::kEma, .start = 13}), std::vector<int>());
}

TEST(Averages, WarmUpLowersTheDecay) {
  const AverageOptions options{.kind = AverageKind::kEma, .decay = 0.9, .warmup = true};
  EXPECT_EQ(update::average_share(options, 0), 1);
  EXPECT_EQ(update::average_share(options, 1), 1 - 2.0 / 11);
  EXPECT_EQ(update::average_share(options, 79), 1 - 80.0 / 89);
  EXPECT_EQ(update::average_share(options, 80), 1 - 0.9);  // 81/90 is the decay
  EXPECT_EQ(update::average_share(options, 1000), 1 - 0.9);
}

TEST(Averages, MistakesAreNamed) {
  const auto text_of = [](const AverageOptions& options) {
    const Status status = update::check_average(options);
    return status ? std::string() : status.error().text();
  };
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({.kind = AverageKind::kEma, .decay = 0}), "");
  EXPECT_NE(text_of({.kind = AverageKind::kEma, .decay = 1}).find("average.decay is 1"), std::string::npos);
  EXPECT_NE(text_of({.kind = AverageKind::kEma, .decay = std::nan("")}).find("average.decay"),
            std::string::npos);
  EXPECT_NE(text_of({.kind = AverageKind::kSwa, .start = -1}).find("average.start is -1"), std::string::npos);
  EXPECT_NE(text_of({.kind = AverageKind::kSwa, .every = 0}).find("average.every is 0"), std::string::npos);
  EXPECT_NE(text_of({.kind = AverageKind::kSwa, .decay = 0.5}).find("has no decay"), std::string::npos);
  EXPECT_NE(text_of({.kind = AverageKind::kSwa, .warmup = true}).find("average.warmup"), std::string::npos);
  EXPECT_NE(text_of({.evaluate = true}).find("its kind is AverageKind::kNone"), std::string::npos);
}

TEST(Masks, TheSmallestMagnitudesBecomeZero) {
  using Bytes = std::vector<std::uint8_t>;
  const std::vector<float> values = {3, -1, 0, 2, -0.5f};
  EXPECT_EQ(update::mask_of_largest(values, 0), (Bytes{1, 1, 1, 1, 1}));
  EXPECT_EQ(update::mask_of_largest(values, 0.4), (Bytes{1, 1, 0, 1, 0}));
  EXPECT_EQ(update::mask_of_largest(values, 0.6), (Bytes{1, 0, 0, 1, 0}));
  EXPECT_EQ(update::mask_of_largest(values, 0.99), (Bytes{0, 0, 0, 0, 0}));
  // 2.5 and 3.5 zeros: ties of the number to even, as round() of Python.
  EXPECT_EQ(update::mask_of_largest(values, 0.5), (Bytes{1, 1, 0, 1, 0}));
  EXPECT_EQ(update::mask_of_largest(std::vector<float>(7, -2), 0.5), (Bytes{0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(update::mask_of_largest({}, 0.5), Bytes());
  EXPECT_EQ(update::mask_of_largest(std::vector<float>{kPostNan, 1, -kPostInfinity}, 0.6), (Bytes{0, 0, 1}));
}

TEST(Masks, ZeroWhateverTheValue) {
  for (const std::size_t count : kAwkwardCounts) {
    std::vector<float> mask(count), values = drawn(count, 3);
    for (std::size_t i = 0; i < count; ++i) mask[i] = i % 3 == 1 ? 0.0f : 1.0f;
    for (std::size_t i = 0; i < count; ++i)
      values[i] = i % 4 == 1 ? (i % 8 == 1 ? kPostNan : kPostInfinity) : values[i];
    std::vector<std::uint16_t> narrow(count);
    update::round_to_bf16(values.data(), narrow.data(), count);
    const std::vector<float> before = values;
    const std::vector<std::uint16_t> narrow_before = narrow;
    update::hold_at_zero(mask.data(), values.data(), count);
    update::hold_at_zero(mask.data(), narrow.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      if (mask[i] == 0) {
        ASSERT_EQ(std::signbit(values[i]) ? 1 : values[i], 0) << i;
        ASSERT_EQ(narrow[i], 0) << i;
      } else {
        ASSERT_EQ(std::isnan(values[i]), std::isnan(before[i]));
        if (!std::isnan(values[i])) ASSERT_EQ(values[i], before[i]);
        ASSERT_EQ(narrow[i], narrow_before[i]);
      }
    }
  }
}

TEST(Masks, MistakesAreNamed) {
  EXPECT_TRUE(update::check_mask({}));
  EXPECT_TRUE(update::check_mask({.sparsity = 0.5, .parameters = {"*"}}));
  for (const double sparsity : {-0.1, 1.0, std::nan("")}) {
    EXPECT_FALSE(update::check_mask({.sparsity = sparsity})) << sparsity;
  }
  EXPECT_FALSE(update::check_mask({.sparsity = 0.5, .parameters = {}, .file = "a"}));
  EXPECT_FALSE(update::check_mask({.parameters = {"*"}}));
}

/// Arrays of an update with post-steps.
struct PostArrays {
  PostArrays(const OptimizerSettings& settings, std::size_t count)
      : arrays(settings, count, 21), average(count, 0.5f), mask(count, 1) {
    for (std::size_t i = 0; i < count; ++i) mask[i] = i % 5 == 2 ? 0.0f : 1.0f;
  }
  PostSpans post() { return {.average = average.data(), .mask = mask.data()}; }

  Arrays arrays;
  std::vector<float> average, mask;
};

class PostSteps : public testing::TestWithParam<OptimizerCase> {};

TEST_P(PostSteps, InBlocksAreThoseAfterTheWholeUpdate) {
  OptimizerSettings settings = GetParam().settings;
  settings.weight_decay = 0.01;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{8191}, std::size_t{20011}}) {
    PostArrays whole(settings, count), blocks(settings, count);
    for (int t = 1; t <= 3; ++t) {
      const UpdateStep step{.count = t, .learning_rate = 0.01};
      for (PostArrays* each : {&whole, &blocks}) each->arrays.new_gradients(4, static_cast<std::uint64_t>(t));
      apply(settings, step, whole.arrays.spans());
      update::post_step(whole.arrays.spans(), whole.post(), 0.125);
      update::apply_with_post_step(settings, step, blocks.arrays.spans(), blocks.post(), 0.125);
    }
    EXPECT_EQ(whole.arrays, blocks.arrays) << count;
    EXPECT_EQ(whole.average, blocks.average) << count;
    for (std::size_t i = 0; i < count; ++i) {
      if (whole.mask[i] != 0) continue;
      ASSERT_EQ(blocks.arrays.parameters[i], 0);
      for (const auto& moment : blocks.arrays.moments) ASSERT_EQ(moment.empty() ? 0 : moment[i], 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PostSteps, testing::ValuesIn(all_optimizers()), case_name);

TEST(PostSteps, AverageTheMastersOfNarrowParameters) {
  constexpr std::size_t kCount = 1031;
  std::vector<float> master = drawn(kCount, 1), average(kCount, 9), mask(kCount, 1);
  mask[7] = mask[1030] = 0;
  std::vector<std::uint16_t> narrow(kCount);
  update::round_to_bf16(master.data(), narrow.data(), kCount);
  UpdateSpans spans{.parameters = {narrow.data(), kCount, DType::kBF16}};
  spans.master = master.data();
  update::post_step(spans, {.average = average.data(), .mask = mask.data()}, 1);
  EXPECT_EQ(average, master);
  EXPECT_EQ(master[7], 0);
  EXPECT_EQ(narrow[7], 0);
  EXPECT_EQ(narrow[1030], 0);
  EXPECT_NE(master[8], 0);
  master.assign(kCount, 3);
  update::post_step(spans, {.average = average.data()}, 0);  // an update whose parameters do not count
  EXPECT_NE(average, master);
}

}  // namespace
}  // namespace cohort

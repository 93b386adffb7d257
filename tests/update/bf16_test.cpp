#include "update/bf16.h"

#include "update/optimizer.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <vector>

namespace cohort {
namespace {

std::uint16_t rounded(float number) {
  std::uint16_t bits = 0;
  update::round_to_bf16(&number, &bits, 1);
  return bits;
}

float widened(std::uint16_t bits) {
  float number = 0;
  update::widen_from_bf16(&bits, &number, 1);
  return number;
}

TEST(Bf16, KeepsItsOwnNumbers) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float number = widened(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(number), bits << 16);
    if (std::isnan(number)) continue;
    ASSERT_EQ(rounded(number), bits);
  }
}

TEST(Bf16, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(rounded(1.0f), 0x3f80);
  EXPECT_EQ(rounded(1.0f + 0x1p-8f), 0x3f80);  // a tie
  EXPECT_EQ(rounded(1.0f + 0x1p-8f + 0x1p-20f), 0x3f81);
  EXPECT_EQ(rounded(1.0f + 0x1p-7f + 0x1p-8f), 0x3f82);  // a tie
  EXPECT_EQ(rounded(-1.0f - 0x1p-8f - 0x1p-20f), 0xbf81);
  EXPECT_EQ(rounded(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(rounded(-std::numeric_limits<float>::infinity()), 0xff80);
  EXPECT_TRUE(std::isnan(widened(rounded(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(widened(rounded(std::bit_cast<float>(0x7f800001u)))));  // a NaN of low bits only
}

TEST(Bf16, EveryLengthIsConverted) {
  for (const std::size_t count : {0u, 1u, 7u, 8u, 9u, 31u, 32u, 33u, 1009u}) {
    std::vector<float> numbers(count + 1, -1.5f), back(count + 1, 7);
    std::iota(numbers.begin(), numbers.end() - 1, 1.0f);
    for (float& number : numbers) number /= 1024;
    std::vector<std::uint16_t> narrow(count + 1, 0x1234);
    update::round_to_bf16(numbers.data(), narrow.data(), count);
    update::widen_from_bf16(narrow.data(), back.data(), count);
    EXPECT_EQ(narrow[count], 0x1234);
    EXPECT_EQ(back[count], 7);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(back[i], widened(rounded(numbers[i]))) << i;
  }
}

// The master has the bits of f32 parameters, and the parameters are rounded.
TEST(Bf16, AMasterIsUpdatedAsF32Parameters) {
  for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdam, OptimizerKind::kAdamW}) {
    const OptimizerSettings settings{.kind = kind, .weight_decay = 0.01};
    constexpr std::size_t kCount = 5003;  // more than a block, and no multiple of one
    std::vector<float> wide(kCount), gradients(kCount), first(kCount), second(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      wide[i] = std::sin(static_cast<float>(i));
      gradients[i] = std::cos(static_cast<float>(3 * i));
    }
    std::vector<float> master = wide, master_first = first, master_second = second;
    std::vector<std::uint16_t> narrow(kCount);
    const bool has_second = num_moments(settings) > 1;
    for (std::int64_t count = 1; count <= 3; ++count) {
      const UpdateStep step{.count = count, .learning_rate = 0.01, .gradient_scale = 0.5, .clip_value = 0.3};
      apply(settings, step,
            {.parameters = wide,
             .gradients = gradients,
             .moments = {first.data(), has_second ? second.data() : nullptr}});
      apply(settings, step,
            {.parameters = {narrow.data(), kCount, DType::kBF16},
             .gradients = gradients,
             .moments = {master_first.data(), has_second ? master_second.data() : nullptr},
             .master = master.data()});
    }
    EXPECT_EQ(master, wide);
    EXPECT_EQ(master_first, first);
    for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(narrow[i], rounded(wide[i])) << i;
  }
}

}  // namespace
}  // namespace cohort

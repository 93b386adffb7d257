#include "base/float16.h"

#include <bit>
#include <cmath>
#include <cohort/dtype.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>

namespace cohort {
namespace {

TEST(DType, NamesAreReadBack) {
  for (const DType dtype : kAllDTypes) EXPECT_EQ(dtype_named(name(dtype)), dtype) << name(dtype);
  EXPECT_EQ(dtype_named("f31"), std::nullopt);
}

TEST(DType, SizesFollowFromTheNames) {
  for (const DType dtype : kAllDTypes) {
    const bool numbered = dtype != DType::kBool;
    const std::size_t bits =
        numbered ? std::stoul(std::string(name(dtype).substr(name(dtype).find_first_of("0123456789")))) : 8;
    EXPECT_EQ(size_bytes(dtype) * 8, bits) << name(dtype);
  }
}

TEST(DType, TellsFloatingPointTypes) {
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(is_floating(dtype), name(dtype).find('f') != std::string_view::npos) << name(dtype);
  }
}

TEST(Float16, EveryBf16ComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = f32_from_bf16(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f32_from_bf16(bf16_from_f32(value))));
    } else {
      ASSERT_EQ(bf16_from_f32(value), half);
    }
  }
}

TEST(Float16, EveryF16ComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = f32_from_f16(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f32_from_f16(f16_from_f32(value))));
    } else {
      ASSERT_EQ(f16_from_f32(value), half) << value;
    }
  }
}

TEST(Float16, KnownValues) {
  EXPECT_EQ(f32_from_f16(0x3C00), 1.0f);
  EXPECT_EQ(f32_from_f16(0xC000), -2.0f);
  EXPECT_EQ(f32_from_f16(0x7BFF), 65504.0f);
  EXPECT_EQ(f32_from_f16(0x0001), 0x1p-24f);
  EXPECT_EQ(f32_from_bf16(0x3F80), 1.0f);
  EXPECT_EQ(f32_from_bf16(0x4049), 3.140625f);
}

// A number between two neighbouring f16 becomes the nearer one; the exact middle becomes the even one.
TEST(Float16, RoundsToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x7BFFu; ++bits) {
    const double below = f32_from_f16(static_cast<std::uint16_t>(bits));
    const double above = f32_from_f16(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((below + above) / 2);
    const auto even = static_cast<std::uint16_t>(bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(f16_from_f32(middle), even) << middle;
    ASSERT_EQ(f16_from_f32(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(f16_from_f32(std::nextafter(middle, 1e9f)), bits + 1);
  }
  EXPECT_EQ(bf16_from_f32(std::bit_cast<float>(0x3F808000u)), 0x3F80);
  EXPECT_EQ(bf16_from_f32(std::bit_cast<float>(0x3F818000u)), 0x3F82);
  EXPECT_EQ(bf16_from_f32(std::bit_cast<float>(0x3F808001u)), 0x3F81);
}

TEST(Float16, TooLargeBecomesInfinite) {
  EXPECT_EQ(f16_from_f32(65519.9f), 0x7BFF);
  EXPECT_EQ(f16_from_f32(65520.0f), 0x7C00);
  EXPECT_EQ(f16_from_f32(-std::numeric_limits<float>::infinity()), 0xFC00);
  EXPECT_EQ(bf16_from_f32(std::numeric_limits<float>::max()), 0x7F80);
}

}  // namespace
}  // namespace cohort

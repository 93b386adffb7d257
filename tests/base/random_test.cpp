#include "base/normal.h"

#include <cmath>
#include <cohort/random.h>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace cohort {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Known answers of philox4x32-10 from the Random123 distribution (kat_vectors).
TEST(RandomStream, MatchesThePublishedVectors) {
  EXPECT_EQ(RandomStream(0, 0).block(0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(RandomStream(~0ull, ~0ull).block(~0ull), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(RandomStream(0x299f31d0a4093822, 0x0370734413198a2e).block(0x85a308d3243f6a88),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, SeedStreamAndIndexAllMatter) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t stream = 0; stream < 10; ++stream) {
      for (std::uint64_t index = 0; index < 10; ++index) seen.insert(RandomStream(seed, stream).bits(index));
    }
  }
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(RandomStream, SubstreamsDifferFromEachOtherAndFromTheirParent) {
  std::set<std::uint64_t> seen;
  const RandomStream parent(7, 1);
  for (std::uint64_t index = 0; index < 50; ++index) seen.insert(parent.bits(index));
  for (std::uint64_t number = 0; number < 50; ++number) {
    for (std::uint64_t index = 0; index < 50; ++index) seen.insert(parent.substream(number).bits(index));
  }
  EXPECT_EQ(seen.size(), 50u + 2500u);
}

TEST(RandomStream, UniformIsInRangeAndEven) {
  const RandomStream stream(1, 2);
  std::vector<int> cells(16);
  constexpr int kCount = 160000;
  for (int i = 0; i < kCount; ++i) {
    const double x = stream.uniform(static_cast<std::uint64_t>(i));
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    ++cells[static_cast<std::size_t>(x * 16)];
  }
  double chi_square = 0;
  for (const int cell : cells) chi_square += (cell - 10000.0) * (cell - 10000.0) / 10000.0;
  EXPECT_LT(chi_square, 37.7);  // 15 degrees of freedom: p = 0.001; the seed is fixed
}

TEST(RandomStream, BelowCoversItsRangeOnly) {
  const RandomStream stream(3, 4);
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 200; ++i) seen.insert(stream.below(7, i));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(stream.below(1, 99), 0u);
}

TEST(RandomStream, NormalHasTheMomentsOfANormal) {
  const RandomStream stream(5, 6);
  constexpr int kCount = 200000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = stream.normal(static_cast<std::uint64_t>(i));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  // Four standard errors: 1/√n, √(2/n), √(96/n).
  EXPECT_NEAR(sum / kCount, 0.0, 4 / std::sqrt(kCount));
  EXPECT_NEAR(squares / kCount, 1.0, 4 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(fourth / kCount, 3.0, 4 * std::sqrt(96.0 / kCount));
}

// Every machine and every compiler must give these bits: initial weights and shuffles depend on them.
TEST(RandomStream, TheBitsOfNormalAreFixed) {
  const RandomStream stream(42, 0);
  EXPECT_EQ(stream.normal(0), -0x1.42dc65ce0ff81p-4);
  EXPECT_EQ(stream.normal(1), -0x1.caca1d20ed483p-2);
  EXPECT_EQ(stream.normal(1000), 0x1.e10895f6891aap-2);
}

TEST(NormalQuantile, MatchesTabulatedValues) {
  EXPECT_EQ(base::normal_quantile(0.5), 0.0);
  EXPECT_NEAR(base::normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(base::normal_quantile(0.3), -0.5244005127080407, 1e-15);
  EXPECT_NEAR(base::normal_quantile(0.01), -2.3263478740408408, 1e-14);
  EXPECT_NEAR(base::normal_quantile(1e-10), -6.361340902404056, 1e-14);
  EXPECT_NEAR(base::normal_quantile(1e-300), -37.0470962993612, 1e-12);
}

TEST(PortableLog, AgreesWithTheLibraryOfThisMachine) {
  for (double x = 1e-300; x < 1e300; x *= 1.37)
    ASSERT_NEAR(base::portable_log(x), std::log(x), 4e-16 * std::abs(std::log(x)) + 1e-17);
}

}  // namespace
}  // namespace cohort

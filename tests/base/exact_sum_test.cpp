#include "base/exact_sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace cohort {
namespace {

double sum_of(const std::vector<double>& numbers) {
  ExactSum sum;
  for (const double number : numbers) sum.add(number);
  return sum.value();
}

TEST(ExactSum, AddsWithoutRounding) {
  EXPECT_EQ(sum_of({}), 0);
  EXPECT_EQ(sum_of({0, 0}), 0);
  EXPECT_EQ(sum_of({1.5, 2.25}), 3.75);
  EXPECT_EQ(sum_of({0x1p-298}), 0x1p-298);
  EXPECT_EQ(sum_of({0x1.fffffep127 * 0x1.fffffep127}), 0x1.fffffep127 * 0x1.fffffep127);
  // A double alone would lose each of the small numbers.
  std::vector<double> numbers{0x1p60};
  numbers.insert(numbers.end(), 1 << 12, 0x1p-4);
  EXPECT_EQ(sum_of(numbers), 0x1p60 + 0x1p8);
}

TEST(ExactSum, AddsNumbersOfBothSigns) {
  EXPECT_EQ(sum_of({-1}), -1);
  EXPECT_EQ(sum_of({-0x1p-298}), -0x1p-298);
  EXPECT_EQ(sum_of({3, -3}), 0);
  EXPECT_EQ(sum_of({0x1p200, 1, -0x1p200}), 1);
  EXPECT_EQ(sum_of({-0x1p200, -0x1p-100, 0x1p200}), -0x1p-100);
  EXPECT_EQ(sum_of({-0x1.fffffep127 * 0x1.fffffep127, 0x1p-149 * 0x1p-149}),
            -0x1.fffffep127 * 0x1.fffffep127);
}

std::array<std::byte, ExactSum::kPackedBytes> packed(const ExactSum& sum) {
  std::array<std::byte, ExactSum::kPackedBytes> bytes{};
  sum.pack(bytes);
  return bytes;
}

// Batches of numbers whose exponents differ little, much, and too much for a batch.
TEST(ExactSum, OfManyAtOnceHasTheBitsOfOneByOne) {
  std::mt19937_64 random(3);
  for (const int spread : {0, 3, 37, 46, 91, 140, 550}) {
    for (const std::size_t count : {0u, 1u, 7u, 8u, 9u, 255u, 256u, 257u, 1000u}) {
      std::vector<double> numbers;
      for (std::size_t i = 0; i < count; ++i) {
        const int exponent = spread == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(spread));
        const double number = std::ldexp(static_cast<double>(random() >> 11), 200 - 53 - exponent);
        numbers.push_back(random() % 3 == 0 ? -number : number);
      }
      ExactSum one_by_one, at_once;
      for (const double number : numbers) one_by_one.add(number);
      at_once.add(std::span<const double>(numbers));
      EXPECT_EQ(packed(at_once), packed(one_by_one)) << spread << " " << count;
    }
  }
}

TEST(ExactSum, OfManyAtOnceKeepsInfinitiesAndNaN) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto sum_at_once = [](double special) {
    std::vector<double> numbers(300, 1.0);
    numbers[290] = special;
    ExactSum sum;
    sum.add(std::span<const double>(numbers));
    return sum.value();
  };
  EXPECT_EQ(sum_at_once(0x1p300), kInfinity);
  EXPECT_EQ(sum_at_once(-kInfinity), -kInfinity);
  EXPECT_TRUE(std::isnan(sum_at_once(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_EQ(sum_at_once(0), 299);
}

TEST(ExactSum, NumbersThatAreTooLargeCountAsInfinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum_of({0x1.fffffffffffffp299}), 0x1.fffffffffffffp299);
  EXPECT_EQ(sum_of({0x1p300}), kInfinity);
  EXPECT_EQ(sum_of({-std::numeric_limits<double>::max()}), -kInfinity);
  EXPECT_TRUE(std::isnan(sum_of({0x1p300, -0x1p1000})));
}

TEST(ExactSum, IsTheSameAfterPacking) {
  const auto packed = [](const ExactSum& sum) {
    std::array<std::byte, ExactSum::kPackedBytes> bytes{};
    sum.pack(bytes);
    return ExactSum::unpack(bytes);
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double number : {0.0, 1.0, -1.0, 0x1.fffffffffffffp299, -0x1.fffffffffffffp299, 0x1p-300,
                              -0x1p-300, kInfinity, -kInfinity}) {
    ExactSum sum;
    sum.add(number);
    EXPECT_EQ(packed(sum).value(), number);
    ExactSum other = packed(sum);
    other.add(0x1p60);
    sum.add(0x1p60);
    EXPECT_EQ(other.value(), sum.value()) << number;
  }
  ExactSum largest;
  largest.add(0x1.fffffffffffffp299);
  for (int i = 0; i < 19; ++i) largest.add(ExactSum(largest));
  EXPECT_EQ(packed(largest).value(), std::ldexp(0x1.fffffffffffffp299, 19));
  for (int i = 0; i < 10; ++i) largest.add(ExactSum(largest));
  EXPECT_EQ(packed(largest).value(), kInfinity) << "no room";
}

TEST(ExactSum, DoesNotDependOnOrderOrParts) {
  std::mt19937_64 random(7);
  std::vector<double> numbers;
  for (int i = 0; i < 5000; ++i) {
    const auto g = static_cast<float>(std::ldexp(static_cast<double>(random() % 1000003) / 1000003.0,
                                                 static_cast<int>(random() % 80) - 60));
    const double sign = random() % 3 == 0 ? -1 : 1;
    numbers.push_back(sign * static_cast<double>(g) * static_cast<double>(g));
  }
  const double expected = sum_of(numbers);
  const double plain = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  EXPECT_NEAR(expected, plain, 1e-10 * plain);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(numbers.begin(), numbers.end(), random);
    EXPECT_EQ(sum_of(numbers), expected);
    std::vector<ExactSum> parts(1 + random() % 7);
    for (const double number : numbers) parts[random() % parts.size()].add(number);
    ExactSum all;
    for (const ExactSum& part : parts) all.add(part);
    EXPECT_EQ(all.value(), expected);
  }
}

TEST(ExactSum, NothingIsLostWhenLimbsAreFull) {
  ExactSum power;  // 2^40 times 3, by doubling
  power.add(3.0);
  for (int i = 0; i < 40; ++i) power.add(ExactSum(power));
  EXPECT_EQ(power.value(), 3.0 * 0x1p40);
}

TEST(ExactSum, PassesInfinitiesAndNanOn) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum_of({1, kInfinity, 2}), kInfinity);
  EXPECT_TRUE(std::isnan(sum_of({1, kInfinity, std::nan("")})));
}

}  // namespace
}  // namespace cohort

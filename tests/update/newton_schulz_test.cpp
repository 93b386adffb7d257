#include "update/newton_schulz.h"

#include "update/kernels.h"
#include <cohort/random.h>

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace cohort::update {
namespace {

std::vector<float> normal_numbers(std::size_t count, std::uint64_t stream) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(RandomStream(3, stream).normal(i));
  return numbers;
}

struct Lengths {
  std::size_t rows, inner, columns;
};

std::vector<float> product_by(InstructionSet set, const Lengths& n) {
  const std::vector<float> left = normal_numbers(n.rows * n.inner, 1);
  const std::vector<float> right = normal_numbers(n.inner * n.columns, 2);
  std::vector<float> result(n.rows * n.columns, 7.0f);
  kernels_of(set).multiply({left.data(), right.data(), result.data(), n.rows, n.inner, n.columns});
  return result;
}

// The order of additions that all instruction sets keep.
std::vector<float> plain_product(const Lengths& n) {
  const std::vector<float> left = normal_numbers(n.rows * n.inner, 1);
  const std::vector<float> right = normal_numbers(n.inner * n.columns, 2);
  std::vector<float> result(n.rows * n.columns);
  for (std::size_t i = 0; i < n.rows; ++i) {
    for (std::size_t j = 0; j < n.columns; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < n.inner; ++k) {
        const float each = left[i * n.inner + k] * right[k * n.columns + j];
        sum += each;
      }
      result[i * n.columns + j] = sum;
    }
  }
  return result;
}

TEST(MatrixProduct, HasTheSameBitsWithEveryInstructionSet) {
  for (const Lengths& n : {Lengths{1, 1, 1},
                           {1, 7, 3},
                           {5, 1, 31},
                           {8, 16, 32},
                           {9, 17, 33},
                           {7, 255, 64},
                           {13, 257, 65},
                           {31, 513, 5},
                           {64, 3, 127},
                           {3, 0, 5},
                           {0, 3, 5}}) {
    const std::vector<float> expected = plain_product(n);
    for (const InstructionSet set : available_sets()) {
      EXPECT_EQ(product_by(set, n), expected) << n.rows << "×" << n.inner << "×" << n.columns;
    }
  }
}

// The coefficients of an iteration that converges to singular values of 1.
constexpr NewtonSchulz kConverging{.coefficients = {1.875, -1.25, 0.375}, .steps = 30, .eps = 1e-7};

TEST(NewtonSchulz, MakesRowsOrColumnsOrthogonal) {
  for (const Lengths& n : {Lengths{1, 1, 1}, {3, 0, 17}, {17, 0, 3}, {12, 0, 12}}) {
    const std::size_t rows = n.rows, columns = n.columns;
    std::vector<float> x = normal_numbers(rows * columns, 5);
    orthogonalise({x, rows, columns}, kConverging);
    const bool is_tall = rows > columns;
    const std::size_t count = is_tall ? columns : rows, length = is_tall ? rows : columns;
    const auto element = [&](std::size_t i, std::size_t k) {
      return is_tall ? x[k * columns + i] : x[i * columns + k];
    };
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < length; ++k) sum += double{element(i, k)} * element(j, k);
        EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-4) << rows << "×" << columns;
      }
    }
  }
}

TEST(NewtonSchulz, LeavesZerosAlone) {
  std::vector<float> x(15);
  orthogonalise({x, 3, 5}, {.coefficients = {3.4445, -4.775, 2.0315}, .steps = 5, .eps = 1e-7});
  EXPECT_EQ(x, std::vector<float>(15));
}

TEST(NewtonSchulz, DoesNotDependOnTheScale) {
  std::vector<float> x = normal_numbers(35, 5), larger = x;
  for (float& each : larger) each *= 1024;
  orthogonalise({x, 5, 7}, kConverging);
  orthogonalise({larger, 5, 7}, kConverging);
  EXPECT_EQ(x, larger);
}

}  // namespace
}  // namespace cohort::update

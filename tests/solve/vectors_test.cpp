#include "solve/vectors.h"
#include "solve/penalties.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace cohort::solve {
namespace {

template <class T>
std::vector<T> drawn(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<T>(std::ldexp(normal(random), static_cast<int>(random() % 40) - 20)));
  }
  return numbers;
}

template <class T>
double product(std::span<const T> a, std::span<const T> b, std::vector<std::size_t> cuts) {
  ExactSum sum;
  cuts.push_back(a.size());
  for (std::size_t i = 0, first = 0; i < cuts.size(); first = cuts[i++]) {
    const std::size_t length = cuts[i] - first;
    const Pair pair{a.subspan(first, length), b.subspan(first, length)};
    add_products({&pair, 1}, {&sum, 1});
  }
  return sum.value();
}

TEST(Products, AreThoseOfIntegers) {
  for (const std::size_t count : std::vector<std::size_t>{0, 1, 15, 16, 17, 1023, 1024, 1025, 4099}) {
    std::vector<float> a, b;
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      a.push_back(static_cast<float>(i % 13) - 6);
      b.push_back(static_cast<float>(i % 7) - 3);
      expected += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    EXPECT_EQ((product<float>(a, b, {})), expected) << count;
  }
}

TEST(Products, DoNotDependOnTheCut) {
  const auto check = [](auto type) {
    using T = decltype(type);
    const std::vector<T> a = drawn<T>(3001, 1), b = drawn<T>(3001, 2);
    const double whole = product<T>(a, b, {});
    EXPECT_EQ(product<T>(a, b, {16}), whole);
    EXPECT_EQ(product<T>(a, b, {48, 48, 1024, 2992}), whole);
    EXPECT_EQ(product<T>(a, b, {1040, 3001}), whole);
  };
  check(float{});
  check(double{});
}

TEST(Combine, AddsTermsInPlace) {
  std::vector<double> a{1, 2, 3};
  const std::vector<double> b{10, 20, 30};
  combine(std::vector<Term>{{2, a}, {-1, b}}, a);
  EXPECT_EQ(a, (std::vector<double>{-8, -16, -24}));
  combine({}, a);
  EXPECT_EQ(a, (std::vector<double>{0, 0, 0}));
}

TEST(Largest, SeesNan) {
  const std::vector<float> some{1, -3, 2}, none{};
  const std::vector<double> hostile{1, std::nan(""), 2};
  EXPECT_EQ(largest(some), 3);
  EXPECT_EQ(largest(none), 0);
  EXPECT_TRUE(std::isnan(largest(hostile)));
}

TEST(Penalties, HaveTheirValueAndGradient) {
  const Penalties penalties({{.first = 0, .count = 3, .l1 = 0, .l2 = 4}, {.first = 16, .count = 2, .l1 = 3}});
  std::vector<double> x(20, 1);
  x[0] = -2;
  x[17] = -5;
  ExactSum sum;
  penalties.add_value(x, sum);
  EXPECT_EQ(sum.value(), 2 * (4 + 1 + 1) + 3 * (1 + 5));
  std::vector<double> gradient(20, 1);
  penalties.add_gradient(x, gradient);
  EXPECT_EQ(gradient[0], 1 - 8);
  EXPECT_EQ(gradient[2], 1 + 4);
  EXPECT_EQ(gradient[3], 1);
  EXPECT_EQ(gradient[16], 1) << "l1 has no gradient";
}

TEST(Penalties, ThePseudoGradientIsTheSteepestSide) {
  const Penalties penalties({{.first = 0, .count = 16, .l1 = 2}});
  const std::vector<double> x{1, -1, 0, 0, 0, 0, 0}, g{5, 5, 5, -5, 1, -1, 2};
  std::vector<double> found(7);
  Penalties({{.first = 0, .count = 7, .l1 = 2}}).pseudo_gradient(x, g, found);
  EXPECT_EQ(found, (std::vector<double>{7, 3, 3, -3, 0, 0, 0}));
  EXPECT_TRUE(penalties.has_l1());
}

TEST(Penalties, APointStaysInItsOrthant) {
  const Penalties penalties({{.first = 0, .count = 6, .l1 = 1}});
  const std::vector<double> x{1, 1, -1, 0, 0, 0}, v{1, 1, 1, -1, -1, 0};
  std::vector<double> trial{-0.5, 0.5, 0.5, 1, -1, 1};
  penalties.project_point(x, v, trial);
  EXPECT_EQ(trial, (std::vector<double>{0, 0.5, 0, 1, 0, 0}));
  std::vector<double> direction{-1, 1, -1, 1, -1, 1};
  penalties.project_direction(v, direction);
  EXPECT_EQ(direction, (std::vector<double>{-1, 0, -1, 1, 0, 0}));
}

}  // namespace
}  // namespace cohort::solve

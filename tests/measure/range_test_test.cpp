#include "measure/range_test.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace cohort::measure {
namespace {

/// A test whose rate doubles from 1 on, with these losses.
RangeTest of(const std::vector<double>& losses) {
  RangeTest test;
  double rate = 1;
  for (const double loss : losses) {
    test.add(rate, loss);
    rate *= 2;
  }
  return test;
}

TEST(RangeTest, SmoothsLosses) {
  const RangeTest test = of({4, 2, 8});
  ASSERT_EQ(test.points().size(), 3u);
  EXPECT_DOUBLE_EQ(test.points()[0].smoothed, 4);
  EXPECT_DOUBLE_EQ(test.points()[1].smoothed, (0.9 * 4 + 2) / 1.9);
  EXPECT_DOUBLE_EQ(test.points()[2].smoothed, (0.81 * 4 + 0.9 * 2 + 8) / 2.71);
  EXPECT_EQ(test.points()[2].loss, 8);
  EXPECT_EQ(test.points()[2].learning_rate, 4);
}

TEST(RangeTest, EndsWhenTheLossDiverges) {
  RangeTest test;
  EXPECT_TRUE(test.add(1, 1));
  EXPECT_TRUE(test.add(2, 5)) << "3.1 on average";
  EXPECT_FALSE(test.add(4, 12)) << "6.3 on average, of which 1 was the lowest";
  EXPECT_TRUE(test.has_diverged());
  EXPECT_EQ(test.points().size(), 3u);
  EXPECT_FALSE(test.add(8, 1));
  EXPECT_EQ(test.points().size(), 3u);
}

TEST(RangeTest, EndsAtALossThatIsNotFinite) {
  for (const double loss : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    RangeTest test = of({2, 1});
    EXPECT_FALSE(test.add(4, loss));
    EXPECT_TRUE(test.has_diverged());
    EXPECT_EQ(test.points().size(), 2u);
  }
  RangeTest none;
  EXPECT_FALSE(none.add(1, std::nan("")));
  EXPECT_FALSE(none.steepest());
  EXPECT_FALSE(none.tenth_of_minimum());
}

// Smoothing delays fall and minimum; the answers are compared with those of a straight search.
TEST(RangeTest, SuggestsTheSteepestDescentAndATenthOfTheMinimum) {
  const RangeTest test = of({8, 8, 8, 7, 4, 2, 1, 1, 1, 1, 1, 3, 9, 20});
  const auto& points = test.points();
  std::size_t lowest = 0, steepest = 1;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].smoothed < points[lowest].smoothed) lowest = i;
  }
  for (std::size_t i = 1; i < lowest; ++i) {
    const auto fall = [&](std::size_t at) { return points[at - 1].smoothed - points[at + 1].smoothed; };
    if (fall(i) > fall(steepest)) steepest = i;
  }
  ASSERT_TRUE(test.steepest());
  EXPECT_EQ(*test.steepest(), points[steepest].learning_rate);
  EXPECT_EQ(*test.steepest(), 32);
  ASSERT_TRUE(test.tenth_of_minimum());
  EXPECT_EQ(*test.tenth_of_minimum(), points[lowest].learning_rate / 10);
}

TEST(RangeTest, WithoutAFallOrAMinimumSuggestsNothing) {
  EXPECT_FALSE(of({}).steepest());
  EXPECT_FALSE(of({1}).steepest());
  EXPECT_FALSE(of({1, 1.5, 2}).steepest());
  EXPECT_FALSE(of({1, 1.5, 2}).tenth_of_minimum());
  EXPECT_FALSE(of({4, 3, 2, 1}).tenth_of_minimum()) << "it may fall further";
  EXPECT_TRUE(of({4, 3, 2, 1}).steepest());
}

}  // namespace
}  // namespace cohort::measure

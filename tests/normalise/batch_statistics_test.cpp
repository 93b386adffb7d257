#include "normalise/batch_statistics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace cohort::normalise {
namespace {

TEST(BatchStatistics, AreMeanAndVariance) {
  // 1 2 6 around 0; 4 4 4 around 3.
  const std::vector<double> moments{9, 3, 41, 3}, pivot{0, 3};
  const Statistics found = statistics_of(3, moments, pivot);
  EXPECT_EQ(found.mean, (std::vector<double>{3, 4}));
  EXPECT_NEAR(found.variance[0], 14.0 / 3, 1e-14);
  EXPECT_EQ(found.variance[1], 0);
}

TEST(BatchStatistics, OfNothingAreZero) {
  const Statistics found = statistics_of(0, std::vector<double>{0, 0}, std::vector<double>{5});
  EXPECT_EQ(found.mean, std::vector<double>{0});
  EXPECT_EQ(found.variance, std::vector<double>{0});
}

TEST(BatchStatistics, AVarianceIsNeverNegativeButMayBeNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Statistics found =
      statistics_of(2, std::vector<double>{4, nan, std::nextafter(8.0, 0), 1}, std::vector<double>{0, 0});
  EXPECT_EQ(found.variance[0], 0);
  EXPECT_TRUE(std::isnan(found.variance[1]));
}

TEST(BatchStatistics, FactorsAreThoseOfTheFormula) {
  const Statistics statistics{.count = 4, .mean = {2, -1}, .variance = {0.1875, 3.9375}};
  const Scaling scaling{.weight = {3, -2}, .bias = {1, 5}};
  // r = 2 and 0.5
  EXPECT_EQ(output_factors(statistics, 0.0625, scaling), (std::vector<double>{6, -1, 1 - 2 * 6.0, 5 - 1.0}));
  EXPECT_EQ(output_factors(statistics, 0.0625, {}), (std::vector<double>{2, 0.5, -4, 0.5}));
  const std::vector<double> products{8, 4, 2, 16};  // Σg, Σg(x - μ)
  // b = -γr·r²·Σg(x - μ)/n, c = -γr·Σg/n - b·μ
  EXPECT_EQ(gradient_factors(statistics, 0.0625, scaling, products),
            (std::vector<double>{6, -1, -12, 1, -12 + 24, 1 + 1}));
}

}  // namespace
}  // namespace cohort::normalise

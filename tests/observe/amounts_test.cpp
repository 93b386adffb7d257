#include "observe/amounts.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace cohort::observe {
namespace {

TEST(Amounts, HaveThreeDigits) {
  EXPECT_EQ(format_amount(0), "0.00");
  EXPECT_EQ(format_amount(0.524), "0.52");
  EXPECT_EQ(format_amount(9.994), "9.99");
  EXPECT_EQ(format_amount(9.996), "10.0");
  EXPECT_EQ(format_amount(99.96), "100");
  EXPECT_EQ(format_amount(999.4), "999");
  EXPECT_EQ(format_amount(999.6), "1.00k");
  EXPECT_EQ(format_amount(12345), "12.3k");
  EXPECT_EQ(format_amount(1.05e6), "1.05M");
  EXPECT_EQ(format_amount(2e18), "2000000T");
  EXPECT_EQ(format_amount(std::nan("")), "-");
  EXPECT_EQ(format_amount(-1), "-");
  EXPECT_EQ(format_amount(std::numeric_limits<double>::infinity()), "-");
}

TEST(Amounts, TimeLeftHasItsTwoLargestUnits) {
  EXPECT_EQ(format_time_left(0), "0s");
  EXPECT_EQ(format_time_left(0.2), "1s") << "never less than there is";
  EXPECT_EQ(format_time_left(59), "59s");
  EXPECT_EQ(format_time_left(59.5), "1m00s");
  EXPECT_EQ(format_time_left(80), "1m20s");
  EXPECT_EQ(format_time_left(3599), "59m59s");
  EXPECT_EQ(format_time_left(7500), "2h05m");
  EXPECT_EQ(format_time_left(86400 * 3 + 3600 * 4), "3d04h");
  EXPECT_EQ(format_time_left(1e300), "11574d01h");
  EXPECT_EQ(format_time_left(-1), "-");
  EXPECT_EQ(format_time_left(std::nan("")), "-");
}

TEST(Amounts, NumbersAndShares) {
  EXPECT_EQ(format_number(2.302585), "2.3026");
  EXPECT_EQ(format_number(0.000012), "1.2e-05");
  EXPECT_EQ(format_number(std::nan("")), "nan");
  EXPECT_EQ(format_share(0), "0 %");
  EXPECT_EQ(format_share(0.034), "3 %");
  EXPECT_EQ(format_share(1.2), "100 %");
  EXPECT_EQ(format_share(-1e-17), "0 %");
}

}  // namespace
}  // namespace cohort::observe

#include "measure/statistics.h"

#include <gtest/gtest.h>
#include <numeric>

namespace cohort::measure {
namespace {

TEST(Statistics, PercentilesAreSamplesThatWereSeen) {
  std::vector<double> samples(200);
  std::iota(samples.rbegin(), samples.rend(), 1);
  const Summary summary = summarize(samples);
  EXPECT_EQ(summary.count, 200u);
  EXPECT_EQ(summary.best_ns, 1);
  EXPECT_EQ(summary.p10_ns, 20);
  EXPECT_EQ(summary.p50_ns, 100);
  EXPECT_EQ(summary.p95_ns, 190);
  EXPECT_EQ(summary.p99_ns, 198);
}

TEST(Statistics, FewSamples) {
  const Summary one = summarize({7});
  EXPECT_EQ(one.best_ns, 7);
  EXPECT_EQ(one.p10_ns, 7);
  EXPECT_EQ(one.p99_ns, 7);
  const Summary three = summarize({3, 1, 2});
  EXPECT_EQ(three.p10_ns, 1);
  EXPECT_EQ(three.p50_ns, 2);
  EXPECT_EQ(three.p95_ns, 3);
}

}  // namespace
}  // namespace cohort::measure

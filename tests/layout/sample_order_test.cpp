#include "layout/sample_order.h"

#include <algorithm>
#include <cmath>
#include <cohort/error.h>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

namespace cohort {
namespace {

std::vector<std::uint64_t> epoch_of(const SampleOrder& order, std::uint64_t epoch) {
  std::vector<std::uint64_t> samples(order.num_samples());
  for (std::uint64_t position = 0; position < samples.size(); ++position) {
    samples[position] = order.at(epoch, position);
  }
  return samples;
}

TEST(SampleOrder, HasEverySampleOnceInEveryEpoch) {
  for (std::uint64_t n :
       {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 15u, 16u, 17u, 97u, 100u, 101u, 1023u, 1024u, 1025u, 5003u}) {
    const SampleOrder order(n, Shuffle::kEveryEpoch, 42);
    for (std::uint64_t epoch : {0u, 1u, 2u, 1000u}) {
      std::vector<std::uint64_t> samples = epoch_of(order, epoch);
      std::sort(samples.begin(), samples.end());
      for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(samples[i], i) << n << " samples, epoch " << epoch;
    }
  }
}

TEST(SampleOrder, WithoutShuffleIsTheOrderOfTheDataSet) {
  const SampleOrder order(7, Shuffle::kNone, 42);
  EXPECT_EQ(epoch_of(order, 3), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(SampleOrder, IsAPureFunctionOfSeedEpochAndPosition) {
  const SampleOrder order(1000, Shuffle::kEveryEpoch, 7);
  EXPECT_EQ(epoch_of(order, 5), epoch_of(SampleOrder(1000, Shuffle::kEveryEpoch, 7), 5));
  EXPECT_NE(epoch_of(order, 5), epoch_of(order, 6));
  EXPECT_NE(epoch_of(order, 5), epoch_of(SampleOrder(1000, Shuffle::kEveryEpoch, 8), 5));
}

// Over many epochs every sample stands about equally often at every position. The bound is five standard
// deviations of a binomial count, n² of them.
TEST(SampleOrder, PutsEverySampleEverywhereEquallyOften) {
  constexpr int kEpochs = 4000;
  for (std::uint64_t n : {2u, 3u, 5u, 7u, 11u}) {
    const SampleOrder order(n, Shuffle::kEveryEpoch, 11);
    std::vector<int> count(n * n);
    for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
      for (std::uint64_t position = 0; position < n; ++position)
        ++count[position * n + order.at(epoch, position)];
    }
    const double p = 1.0 / static_cast<double>(n);
    for (int times : count) EXPECT_NEAR(times, kEpochs * p, 5 * std::sqrt(kEpochs * p * (1 - p))) << n;
  }
}

// Neighbours of the data set must not stay neighbours: in a random order of n samples about two pairs follow
// each other in either direction.
TEST(SampleOrder, TearsNeighboursApart) {
  const SampleOrder order(10007, Shuffle::kEveryEpoch, 3);
  const auto samples = epoch_of(order, 0);
  int neighbours = 0, fixed = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    fixed += samples[i] == i;
    if (i > 0) neighbours += samples[i] + 1 == samples[i - 1] || samples[i] == samples[i - 1] + 1;
  }
  EXPECT_LT(neighbours, 15);
  EXPECT_LT(fixed, 12);
}

TEST(SampleOrder, IsKeptBetweenReleases) {
  const SampleOrder order(10, Shuffle::kEveryEpoch, 1);
  EXPECT_EQ(epoch_of(order, 0), (std::vector<std::uint64_t>{9, 3, 1, 5, 6, 2, 8, 4, 7, 0}));
}

TEST(SampleOrder, TakesManySamplesAndNone) {
  const SampleOrder huge((std::uint64_t{1} << 62) - 1, Shuffle::kEveryEpoch, 5);
  EXPECT_LT(huge.at(9, huge.num_samples() - 1), huge.num_samples());
  EXPECT_NE(huge.at(9, 0), huge.at(9, 1));
  EXPECT_EQ(SampleOrder(0, Shuffle::kEveryEpoch, 5).num_samples(), 0u);
  EXPECT_THROW(SampleOrder(3, Shuffle::kNone, 5).at(0, 3), BugError);
}

}  // namespace
}  // namespace cohort

#include "layout/tensor_owners.h"

#include <gtest/gtest.h>
#include <numeric>

namespace cohort {
namespace {

TEST(OwnersByCost, GiveEveryRankAboutTheSameWork) {
  const std::vector<double> costs = {3, 9, 1, 7, 5, 5, 0, 2, 4, 8};
  for (int world = 1; world <= 5; ++world) {
    const std::vector<int> owners = owners_by_cost(costs, world);
    std::vector<double> work(static_cast<std::size_t>(world));
    for (std::size_t i = 0; i < costs.size(); ++i) work[static_cast<std::size_t>(owners[i])] += costs[i];
    const double most = *std::max_element(work.begin(), work.end());
    EXPECT_LE(most, 44.0 / world * 4 / 3 + 1e-9) << world;
  }
}

TEST(OwnersByCost, GiveTheMostExpensiveTensorsToDifferentRanks) {
  EXPECT_EQ(owners_by_cost(std::vector<double>{1, 100, 1, 100}, 2), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(owners_by_cost(std::vector<double>{}, 3), std::vector<int>{});
}

TEST(RunsOfRank, AreEveryElementOnce) {
  const std::vector<std::size_t> sizes = {1, 17, 300, 0, 31, 64};
  const std::vector<std::size_t> order = {5, 4, 3, 2, 1, 0};
  for (int world = 1; world <= 5; ++world) {
    const BucketLayout layout = layout_for(sizes, order, world, 128);
    std::vector<std::vector<int>> times;
    for (const std::size_t size : sizes) times.emplace_back(size, 0);
    for (int rank = 0; rank < world; ++rank) {
      for (const TensorRun& run : runs_of_rank(layout, rank, world)) {
        const Bucket& bucket = layout.buckets[run.bucket];
        EXPECT_LE(run.first + run.count, slice_of(bucket, rank, world).count);
        EXPECT_EQ(run.from % 16, 0u) << "norms would depend on the number of ranks";
        for (std::size_t i = 0; i < run.count; ++i) ++times[run.tensor][run.from + i];
      }
    }
    for (std::size_t t = 0; t < sizes.size(); ++t) EXPECT_EQ(times[t], std::vector<int>(sizes[t], 1));
  }
}

}  // namespace
}  // namespace cohort

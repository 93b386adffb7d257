#include "layout/host_grid.h"

#include "layout/buckets.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace cohort {
namespace {

TEST(HostGrid, HasAHostAndAPlaceForEveryRank) {
  const std::vector<int> hosts = {7, 7, 3, 3, 5, 5};
  EXPECT_EQ(host_grid(hosts, 0), (HostGrid{.num_hosts = 3, .per_host = 2, .host = 0, .place = 0}));
  EXPECT_EQ(host_grid(hosts, 3), (HostGrid{.num_hosts = 3, .per_host = 2, .host = 1, .place = 1}));
  EXPECT_EQ(host_grid(hosts, 5), (HostGrid{.num_hosts = 3, .per_host = 2, .host = 2, .place = 1}));
}

TEST(HostGrid, SaysWhetherTheRanksOfAHostFollowEachOther) {
  const std::vector<int> in_turn = {0, 1, 0, 1};
  EXPECT_EQ(host_grid(in_turn, 2),
            (HostGrid{.num_hosts = 2, .per_host = 2, .host = 0, .place = 1, .is_in_order = false}));
}

TEST(HostGrid, NeedsEquallyManyRanksOnEveryHost) {
  EXPECT_FALSE(host_grid(std::vector<int>{0, 0, 1}, 0));
  EXPECT_FALSE(host_grid(std::vector<int>{}, 0));
}

// A reduce-scatter among the ranks of a host and one across hosts give every rank a shard of its own: that of
// its part of the part of its host.
TEST(HostGrid, ShardsAreTheSlicesOfTwoReduceScatters) {
  for (const int num_hosts : {1, 2, 3}) {
    for (const int per_host : {1, 2, 4}) {
      std::vector<int> hosts, shards;
      for (int rank = 0; rank < num_hosts * per_host; ++rank) hosts.push_back(rank / per_host);
      const Bucket whole{
          .first = 96, .count = static_cast<std::size_t>(num_hosts * per_host) * 16, .entries = {}};
      for (int rank = 0; rank < num_hosts * per_host; ++rank) {
        const HostGrid grid = *host_grid(hosts, rank);
        const BucketSlice near = slice_of(whole, grid.place, per_host);
        const BucketSlice nested =
            slice_of({.first = near.first, .count = near.count, .entries = {}}, grid.host, num_hosts);
        const BucketSlice own = slice_of(whole, grid.shard(), grid.num_shards());
        EXPECT_EQ(own.first, nested.first);
        EXPECT_EQ(own.count, nested.count);
        shards.push_back(grid.shard());
      }
      std::sort(shards.begin(), shards.end());
      for (int shard = 0; shard < num_hosts * per_host; ++shard)
        EXPECT_EQ(shards[static_cast<std::size_t>(shard)], shard);
    }
  }
}

}  // namespace
}  // namespace cohort

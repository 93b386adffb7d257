#include "copies/placement.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace cohort::test {
namespace {

using copies::place_keepers;

// All ways to put `world` ranks on up to `world` hosts.
std::vector<std::vector<int>> all_hosts(int world) {
  std::vector<std::vector<int>> all = {{}};
  for (int rank = 0; rank < world; ++rank) {
    std::vector<std::vector<int>> longer;
    for (const auto& hosts : all) {
      const int num_hosts = hosts.empty() ? 0 : 1 + *std::max_element(hosts.begin(), hosts.end());
      for (int host = 0; host <= num_hosts; ++host) {
        longer.push_back(hosts);
        longer.back().push_back(host);
      }
    }
    all = std::move(longer);
  }
  return all;
}

TEST(Placement, Examples) {
  EXPECT_EQ(place_keepers(std::vector<int>{}), std::vector<int>{});
  EXPECT_EQ(place_keepers(std::vector{7}), std::vector{0});
  EXPECT_EQ(place_keepers(std::vector{4, 4, 4}), (std::vector{0, 1, 2}));
  EXPECT_EQ(place_keepers(std::vector{0, 0, 1, 1}), (std::vector{2, 3, 0, 1}));
  EXPECT_EQ(place_keepers(std::vector{0, 0, 0, 1}), (std::vector{3, 3, 3, 0}));
  EXPECT_EQ(place_keepers(std::vector{0, 1, 2}), (std::vector{1, 2, 0}));
}

TEST(Placement, KeepersAreOnAnotherHostAndKeepEquallyMuch) {
  for (int world = 1; world <= 8; ++world) {
    for (const std::vector<int>& hosts : all_hosts(world)) {
      const std::vector<int> keepers = place_keepers(hosts);
      std::map<int, int> ranks_of;
      for (const int host : hosts) ++ranks_of[host];
      if (ranks_of.size() < 2) continue;
      std::vector<int> kept(hosts.size());
      for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        const auto keeper = static_cast<std::size_t>(keepers[rank]);
        ASSERT_NE(hosts[keeper], hosts[rank]) << "rank " << rank << " of " << world;
        ++kept[keeper];
      }
      int largest = 0;
      for (const auto& [host, num_ranks] : ranks_of) largest = std::max(largest, num_ranks);
      const int others = world - largest;
      const int most = largest > others ? (largest + others - 1) / others : 1;
      EXPECT_LE(*std::max_element(kept.begin(), kept.end()), most);
    }
  }
}

}  // namespace
}  // namespace cohort::test

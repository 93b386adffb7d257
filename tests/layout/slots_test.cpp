#include "layout/slots.h"

#include <algorithm>
#include <cohort/error.h>
#include <gtest/gtest.h>

namespace cohort {
namespace {

TEST(Slots, AreDealtOnceContiguouslyAndEvenly) {
  for (int world : {1, 2, 3, 4, 5, 8, 13}) {
    for (int slots : {0, 1, 2, 3, 4, 5, 7, 8, 12, 13, 64, 97}) {
      std::vector<int> all;
      std::size_t most = 0, least = 1000;
      for (int rank = 0; rank < world; ++rank) {
        const std::vector<int> mine = deal(slots, world, rank);
        all.insert(all.end(), mine.begin(), mine.end());
        most = std::max(most, mine.size());
        least = std::min(least, mine.size());
      }
      ASSERT_EQ(all.size(), static_cast<std::size_t>(slots));
      for (int slot = 0; slot < slots; ++slot) EXPECT_EQ(all[static_cast<std::size_t>(slot)], slot);
      EXPECT_LE(most - least, 1u) << slots << " slots, " << world << " ranks";
    }
  }
}

TEST(Slots, ARankOutsideTheWorldIsABug) {
  EXPECT_THROW(deal(4, 2, 2), BugError);
  EXPECT_THROW(deal(4, 2, -1), BugError);
}

}  // namespace
}  // namespace cohort

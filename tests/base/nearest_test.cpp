#include "base/nearest.h"

#include <gtest/gtest.h>
#include <vector>

namespace cohort {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsChangesAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("ranks", "rank"), 1u);
  EXPECT_EQ(edit_distance("rnak", "rank"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, FindsWhatWasMeantAndNothingElse) {
  const std::vector<std::string> known{"launch.ranks", "log.level", "log.format"};
  EXPECT_EQ(nearest("log.levle", known), "log.level");
  EXPECT_EQ(nearest("launch.rank", known), "launch.ranks");
  EXPECT_EQ(nearest("optimizer", known), std::nullopt);
  EXPECT_EQ(nearest("", known), std::nullopt);
}

}  // namespace
}  // namespace cohort

#include "observe/table.h"

#include <gtest/gtest.h>

namespace cohort::observe {
namespace {

TEST(Table, ColumnsAreAlignedByWhatIsSeen) {
  Table table({"a", "b"});
  table.add({{"–"}, {"x"}});
  table.add({{"long"}, {"y"}});
  EXPECT_EQ(table.text({}), "a     b\n–     x\nlong  y\n");
}

TEST(Table, TheLastColumnIsWrappedAtTheWidth) {
  Table table({"k", "words"});
  table.add({{"1"}, {"aaaa bbbb cccc dddd eeee ffff"}});
  EXPECT_EQ(table.text({.columns = 30}), "k  words\n1  aaaa bbbb cccc dddd eeee\n   ffff\n");
}

TEST(Table, TheLastColumnKeepsSpacesThatAlignItToTheRight) {
  Table table({"from", "  b"});
  table.add({{"a"}, {"7.5"}});
  table.add({{"c"}, {" 12", Colour::kGreen}});
  table.add({{"b"}, {"   "}});
  EXPECT_EQ(table.text({}), "from    b\na     7.5\nc      12\nb\n");
  EXPECT_NE(table.text({.colours = Colours::kShown}).find("\033[32m 12\033[0m"), std::string::npos);
}

TEST(Table, ColoursAreShownOnlyWhereWanted) {
  Table table({"k", "v"});
  table.add({{"1", Colour::kGreen}, {"2"}});
  EXPECT_EQ(table.text({}).find('\033'), std::string::npos);
  EXPECT_NE(table.text({.colours = Colours::kShown}).find("\033[32m1\033[0m"), std::string::npos);
}

TEST(Screen, HeatHasALevelForEveryFifth) {
  EXPECT_EQ(heat_colour(0), Colour::kHeat0);
  EXPECT_EQ(heat_colour(0.5), Colour::kHeat2);
  EXPECT_EQ(heat_colour(0.99), Colour::kHeat4);
  EXPECT_EQ(heat_colour(1), Colour::kHeat4);
  EXPECT_EQ(heat_colour(-1), Colour::kHeat0);
  const Screen screen{.colours = Colours::kShown};
  EXPECT_NE(screen.coloured("x", Colour::kHeat0), screen.coloured("x", Colour::kHeat4));
}

}  // namespace
}  // namespace cohort::observe

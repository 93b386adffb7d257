#include "measure/size_list.h"

#include <gtest/gtest.h>

namespace cohort::measure {
namespace {

using Sizes = std::vector<std::uint64_t>;

TEST(SizeList, SizesWithUnitsInRisingOrderWithoutRepetition) {
  EXPECT_EQ(*parse_sizes("32MiB,4,64KiB,4"), (Sizes{4, 65536, 33554432}));
  EXPECT_EQ(*parse_sizes("1"), (Sizes{1}));
}

TEST(SizeList, ARangeIsEveryDoublingOfItsStart) {
  EXPECT_EQ(*parse_sizes("4..32"), (Sizes{4, 8, 16, 32}));
  EXPECT_EQ(*parse_sizes("3..20,1KiB"), (Sizes{3, 6, 12, 1024}));
  EXPECT_EQ(*parse_sizes("5..5"), (Sizes{5}));
  EXPECT_EQ(parse_sizes("4..64MiB")->size(), 25u);
}

TEST(SizeList, MistakesAreNamed) {
  for (const char* text : {"", "4,", "four", "8..4", "0", "4..", "9 GiB", "1..9GiB", "-4"}) {
    const auto sizes = parse_sizes(text);
    ASSERT_FALSE(sizes) << text;
    EXPECT_EQ(sizes.error().code(), ErrorCode::kUsage) << text;
    EXPECT_NE(sizes.error().text().find(text), std::string::npos) << sizes.error().text();
  }
}

}  // namespace
}  // namespace cohort::measure

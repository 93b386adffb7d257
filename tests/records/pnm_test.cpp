#include "records/pnm.h"

#include "record_bytes.h"
#include "storage/content.h"

#include <gtest/gtest.h>

namespace cohort::records {
namespace {

using Values = std::vector<std::uint16_t>;

TEST(Pnm, ReadsEveryForm) {
  const auto grey = parse_pnm("P5\n# a comment\n3 2\n255\n" + bytes_from({0, 1, 2, 253, 254, 255}), "a.pgm");
  ASSERT_TRUE(grey) << grey.error().text();
  EXPECT_EQ((std::vector<std::int64_t>{grey->channels, grey->height, grey->width}),
            (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(grey->values, (Values{0, 1, 2, 253, 254, 255}));
  EXPECT_EQ(parse_pnm("P2 2 1 7\n 7 # white\n0\n", "a")->values, (Values{7, 0}));
  EXPECT_EQ(parse_pnm("P6 2 1 255 " + bytes_from({1, 2, 3, 4, 5, 6}), "a")->values,
            (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(parse_pnm("P3 1 1 255 1 2 3", "a")->values, (Values{1, 2, 3}));
  EXPECT_EQ(parse_pnm("P5 1 2 256 " + bytes_from({1, 0, 0, 9}), "a")->values, (Values{256, 9}));
}

TEST(Pnm, SharesOfWhite) {
  EXPECT_EQ(parse_pnm("P2 3 1 4 0 1 4", "a")->shares(), (std::vector<float>{0, 0.25, 1}));
}

TEST(Pnm, RefusesWhatIsNotExactlyAnImage) {
  for (const char* content : {"",
                              "P5",
                              "P5 ",
                              "P4 1 1 1 0",
                              "P5 1 1\n",
                              "P5 0 1 255 ",
                              "P5 1 1 0 a",
                              "P5 1 1 65536 a",
                              "P5 1 1 255",
                              "P5 1 1 255a",
                              "P5 1 1 255 ",
                              "P5 1 1 255 ab",
                              "P5 -1 1 255 a",
                              "P5 1 1 96 a",
                              "P5 100000000 100000000 255 a",
                              "P2 1 1 255",
                              "P2 1 1 255 x",
                              "P2 2 1 255 1",
                              "P2 1 1 255 1 2",
                              "P2 1 1 3 4",
                              "P2 268435456 1 255 1 2"}) {
    EXPECT_EQ(code_name(parse_pnm(content, "a.pgm")), "corrupt") << content;
  }
}

TEST(Pnm, IsToldFromText) {
  EXPECT_TRUE(is_pnm("P5\n"));
  EXPECT_FALSE(is_pnm("P5,x\n1,2\n"));
}

}  // namespace
}  // namespace cohort::records

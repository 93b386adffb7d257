#include "records/record_file.h"

#include "record_bytes.h"
#include "storage/memory_file_system.h"

namespace cohort::records {
namespace {

constexpr std::uint64_t kPlenty = 1 << 24;

TEST(Gzip, GivesBackWhatWasPacked) {
  for (std::size_t size : {0u, 1u, 4097u, 262143u, 262144u, 262145u, 1000003u}) {
    const std::string text = letters(size);
    const auto back = gunzip(gzipped(text), "a.gz", kPlenty);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, text);
  }
}

TEST(Gzip, ReadsSeveralMembersAsOne) {
  EXPECT_EQ(*gunzip(gzipped("one ") + gzipped("") + gzipped("two"), "a.gz", kPlenty), "one two");
}

TEST(Gzip, CutAnywhereIsCorrupt) {
  const std::string whole = gzipped("some text, some text, and more of it");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto result = gunzip(std::string_view(whole).substr(0, size), "a.gz", kPlenty);
    ASSERT_EQ(code_name(result), "corrupt") << size;
    EXPECT_NE(text_of(result).find("'a.gz' is damaged at byte"), std::string::npos);
  }
}

TEST(Gzip, AFlippedBitIsNotTakenForData) {
  const std::string text = "some text, some text, and more of it";
  const std::string whole = gzipped(text);
  for (std::size_t at = 10; at < whole.size(); ++at) {  // the header before has bytes without meaning
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    EXPECT_EQ(code_name(gunzip(bad, "a.gz", kPlenty)), "corrupt") << at;
  }
}

TEST(Gzip, WhatFollowsTheEndIsNamed) {
  EXPECT_EQ(text_of(gunzip(gzipped("x") + "tail", "a.gz", kPlenty)),
            "'a.gz' is damaged at byte " + std::to_string(gzipped("x").size()) +
                ": something follows the end of the gzip data. Get the file again.");
}

TEST(Gzip, UnpacksNoMoreThanIsAllowed) {
  const std::string bomb = gzipped(std::string(1 << 22, 'a'));
  ASSERT_LT(bomb.size(), 10000u);
  EXPECT_EQ(code_name(gunzip(bomb, "a.gz", (1 << 22) - 1)), "usage");
  EXPECT_TRUE(gunzip(bomb, "a.gz", 1 << 22));
}

TEST(RecordFile, UnpacksByContentAndMindsTheName) {
  MemoryFileSystem fs;
  put(fs, "plain.txt", "plain");
  put(fs, "packed.gz", gzipped("packed"));
  put(fs, "packed", gzipped("packed"));
  put(fs, "wrong.gz", "plain");
  EXPECT_EQ(*read_record_file(fs, "plain.txt"), "plain");
  EXPECT_EQ(*read_record_file(fs, "packed.gz"), "packed");
  EXPECT_EQ(*read_record_file(fs, "packed"), "packed");
  EXPECT_EQ(code_name(read_record_file(fs, "wrong.gz")), "corrupt");
  EXPECT_EQ(code_name(read_record_file(fs, "absent")), "not_found");
  EXPECT_EQ(code_name(read_record_file(fs, "plain.txt", 4)), "usage");
}

}  // namespace
}  // namespace cohort::records

#include "base/byte_stream.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> numbers) {
  std::vector<std::byte> bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

std::string text_of(const Status& status) {
  return status ? "fine" : status.error().text();
}

TEST(ByteStream, IsLittleEndianWithoutPadding) {
  const auto written = ByteWriter()
                           .number(std::uint8_t{1})
                           .number(std::uint32_t{0x01020304})
                           .text("ab")
                           .bytes(bytes_of({9, 8}))
                           .number(std::int16_t{-2})
                           .take();
  EXPECT_EQ(written, bytes_of({1, 4, 3, 2, 1, 2, 0, 0, 0, 'a', 'b', 9, 8, 0xfe, 0xff}));
}

TEST(ByteStream, ComesBackAsItWas) {
  const auto written = ByteWriter().number(std::uint64_t{7}).text("").text("abc").number(-1.5).take();
  ByteReader reader(written);
  EXPECT_EQ(reader.number<std::uint64_t>("a"), 7u);
  EXPECT_EQ(reader.text("b"), "");
  EXPECT_EQ(reader.text("c", 3), "abc");
  EXPECT_FALSE(reader.is_at_end());
  EXPECT_EQ(reader.number<double>("d"), -1.5);
  EXPECT_TRUE(reader.is_at_end());
  EXPECT_EQ(text_of(reader.finish("thing")), "fine");
}

TEST(ByteStream, TheFirstMistakeCounts) {
  const auto written = ByteWriter().number(std::uint8_t{7}).text("abcd").take();
  ByteReader reader(written);
  EXPECT_EQ(reader.number_within<std::uint8_t>("kind", 0, 6), 0);
  EXPECT_EQ(reader.text("name"), "") << "nothing is read after a mistake";
  EXPECT_FALSE(reader.is_fine());
  EXPECT_EQ(text_of(reader.finish("thing")), "corrupt thing: field kind is 7, expected 0 … 6");
}

TEST(ByteStream, MistakesGiveFieldExpectedAndFound) {
  const auto written = ByteWriter().text("abcd").take();
  ByteReader longer(written);
  EXPECT_EQ(longer.text("name", 3), "");
  EXPECT_EQ(text_of(longer.mistake("thing")), "corrupt thing: field name has 4 bytes, expected at most 3");
  ByteReader cut(std::span(written).first(6));
  EXPECT_EQ(cut.text("name", 4), "");
  EXPECT_EQ(text_of(cut.mistake("thing")), "corrupt thing: field name is cut off after 2 bytes, expected 4");
  ByteReader shorter(std::span(written).first(3));
  EXPECT_EQ(shorter.text("name"), "");
  EXPECT_EQ(text_of(shorter.mistake("thing")),
            "corrupt thing: field name is cut off after 3 bytes, expected 4");
  ByteReader more(written);
  EXPECT_EQ(more.number<std::uint16_t>("count"), 4);
  EXPECT_EQ(text_of(more.mistake("thing")), "fine");
  EXPECT_EQ(text_of(more.finish("thing")), "corrupt thing: 6 bytes follow the last field, expected 0");
}

}  // namespace
}  // namespace cohort

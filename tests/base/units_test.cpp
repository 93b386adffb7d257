#include "base/units.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

using namespace std::chrono_literals;

TEST(Bytes, AreParsedWithAndWithoutUnit) {
  EXPECT_EQ(*parse_bytes("0"), 0u);
  EXPECT_EQ(*parse_bytes("4096"), 4096u);
  EXPECT_EQ(*parse_bytes("64KiB"), 65536u);
  EXPECT_EQ(*parse_bytes(" 1.5 GiB "), 1610612736u);
  EXPECT_EQ(*parse_bytes("2 GB"), 2000000000u);
  EXPECT_EQ(*parse_bytes("1.1 GiB"), 1181116006u);
  EXPECT_EQ(*parse_bytes("9007199254740993"), 9007199254740993u);
  EXPECT_EQ(*parse_bytes("18446744073709551615"), ~0ull);
}

TEST(Bytes, NonsenseIsRefusedWithARemedy) {
  for (const char* text : {"", "KiB", "-1", "1.5", "3 apples", "1e30", "1.", "1.2.3 KiB",
                           "18446744073709551616", "16777216 TiB", "nan", "inf", "0x10", "1 Ki B"}) {
    const auto result = parse_bytes(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code(), ErrorCode::kUsage);
    EXPECT_NE(result.error().remedy(), "");
  }
}

TEST(Bytes, AreShownShort) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1048575), "1024 KiB");
  EXPECT_EQ(format_bytes(1100), "1.07 KiB");
  EXPECT_EQ(format_bytes(2048 + 205), "2.2 KiB");
  EXPECT_EQ(format_bytes(65536), "64 KiB");
  EXPECT_EQ(format_bytes(1610612736), "1.5 GiB");
  EXPECT_EQ(format_bytes(25'000'000'000), "23.3 GiB");
}

TEST(Bytes, TheExactFormReadsBackAsTheSameNumber) {
  EXPECT_EQ(exact_bytes(1610612736), "1536 MiB");
  EXPECT_EQ(exact_bytes(4097), "4097 B");
  for (const std::uint64_t bytes :
       {0ull, 1ull, 1024ull, 1610612737ull, 25'000'000'000ull, 1ull << 46, (1ull << 53) + 1, ~0ull}) {
    EXPECT_EQ(*parse_bytes(exact_bytes(bytes)), bytes);
  }
}

TEST(Durations, TheExactFormReadsBackAsTheSameTime) {
  EXPECT_EQ(exact_duration(90s), "90 s");
  for (const auto duration : {0ns, 1ns, 1500ns, 30'000'000'000ns, 1'234'567'891ns, 7'200'000'000'000ns}) {
    EXPECT_EQ(*parse_duration(exact_duration(duration)), duration);
  }
}

TEST(Durations, NeedAUnit) {
  EXPECT_EQ(*parse_duration("250ms"), 250ms);
  EXPECT_EQ(*parse_duration("30 s"), 30s);
  EXPECT_EQ(*parse_duration("1.5 min"), 90s);
  EXPECT_EQ(*parse_duration("2h"), 2h);
  for (const char* text : {"30", "", "s", "-1s", "1 fortnight", "1e300 h"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(Durations, AreShownShort) {
  EXPECT_EQ(format_duration(0s), "0 s");
  EXPECT_EQ(format_duration(1500ns), "1.5 µs");
  EXPECT_EQ(format_duration(500ms), "500 ms");
  EXPECT_EQ(format_duration(30s), "30 s");
  EXPECT_EQ(format_duration(120s), "2 min");
  EXPECT_EQ(format_duration(-5ms), "-5 ms");
}

}  // namespace
}  // namespace cohort

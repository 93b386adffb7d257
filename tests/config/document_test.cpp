#include "config/document.h"

#include <gtest/gtest.h>

namespace cohort::config {
namespace {

TEST(Document, LeavesComeInTheOrderTheyWereWritten) {
  const auto entries = parse_document("z.b = 1\n[a]\nx = true\n[z]\na = 'q'\n", "f.toml");
  ASSERT_FALSE(entries) << "TOML forbids to reopen a table that dotted keys made";
  const auto fine = parse_document("[z]\nb = 1\n[a]\nx = true\n", "f.toml");
  ASSERT_TRUE(fine);
  ASSERT_EQ(fine->size(), 2u);
  EXPECT_EQ(fine->at(0).key, "z.b");
  EXPECT_EQ(fine->at(0).location, "f.toml:2");
  EXPECT_EQ(fine->at(1).key, "a.x");
}

TEST(Document, ValuesKeepTheirWrittenForm) {
  const auto entries = parse_document("a = 'x'\nb = [1, 2]\nc = 2026-01-31\n", "f.toml");
  ASSERT_TRUE(entries);
  EXPECT_EQ(entries->at(0).value.written, "\"x\"");
  EXPECT_EQ(entries->at(1).value.written, "[ 1, 2 ]");
  EXPECT_EQ(entries->at(2).value.written, "2026-01-31");
}

TEST(Document, ATextTheParserStumblesOverIsAMistakeWithALine) {
  for (const char* text : {"[a]\nx = 1\n[=]\n", "[a]\nx = 1\n[[", "[a]\nx = 1\n[.b]\n"}) {
    const auto entries = parse_document(text, "f.toml");
    ASSERT_FALSE(entries) << text;
    EXPECT_NE(entries.error().text().find("this is not valid TOML"), std::string::npos);
  }
  EXPECT_EQ(parse_document("[a]\nx = 1\n[=]\ny = 2\n", "f.toml").error().text().substr(0, 9), "f.toml:3:");
}

TEST(Override, IsTomlWhereItCanBe) {
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(parse_override("a.b=3")->value.data));
  EXPECT_TRUE(std::holds_alternative<bool>(parse_override("a.b=true")->value.data));
  EXPECT_EQ(std::get<std::string>(parse_override("a.b=plain words")->value.data), "plain words");
  EXPECT_EQ(std::get<std::string>(parse_override("a.b=\"quoted\"")->value.data), "quoted");
  EXPECT_EQ(std::get<std::string>(parse_override("a.b=")->value.data), "");
  EXPECT_EQ(std::get<std::string>(parse_override("a.b=x\nc = 3")->value.data), "x\nc = 3");
}

TEST(Override, NeedsAKey) {
  for (const char* text : {"", "=", "=3", "key"}) EXPECT_FALSE(parse_override(text)) << text;
}

}  // namespace
}  // namespace cohort::config

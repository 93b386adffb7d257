#include "machine/kernel_text.h"

#include "machine/given_files.h"

#include <gtest/gtest.h>

namespace cohort::machine {
namespace {

using Words = std::vector<std::string_view>;

TEST(KernelText, IsCutIntoPiecesAndWords) {
  EXPECT_EQ(split("a,,b", ','), (Words{"a", "", "b"}));
  EXPECT_EQ(split("", ','), Words{""});
  EXPECT_EQ(words_of(" a \t b\n"), (Words{"a", "b"}));
  EXPECT_EQ(words_of(" \n"), Words{});
  EXPECT_EQ(trimmed("\t a b \n"), "a b");
  EXPECT_EQ(trimmed("  "), "");
}

TEST(KernelText, AFieldIsFoundByItsWholeKey) {
  const std::string_view text = "model\t\t: 1\nmodel name\t: EPYC: 7763\nmodel name\t: other\n";
  EXPECT_EQ(field(text, "model name", ':'), "EPYC: 7763");
  EXPECT_EQ(field(text, "model", ':'), "1");
  EXPECT_EQ(field(text, "name", ':'), std::nullopt);
}

TEST(KernelText, CountsAreWholeNumbersAlone) {
  EXPECT_EQ(*parse_count(" 42\n"), 42u);
  EXPECT_EQ(*parse_count("18446744073709551615"), 18446744073709551615u);
  for (const char* text : {"", "-1", "1.5", "12 kB", "max", "18446744073709551616", "0x10"})
    EXPECT_FALSE(parse_count(text)) << text;
}

TEST(KernelText, ListsAreCounted) {
  EXPECT_EQ(*parse_list_length("0\n"), 1);
  EXPECT_EQ(*parse_list_length("0-3,8\n"), 5);
  EXPECT_EQ(*parse_list_length("0-63,128-191"), 128);
  for (const char* text : {"", "3-1", "0-", "a", "0-3,", "0-4000000000"})
    EXPECT_FALSE(parse_list_length(text)) << text;
}

TEST(KernelText, WhatAParserRefusesNamesTheFile) {
  const auto read = given_files({{"/proc/x", "seven"}});
  EXPECT_EQ(parsed(read, "/proc/x", parse_count).error().text(),
            "cannot parse '/proc/x': 'seven' is not a whole number");
  EXPECT_EQ(parsed(read, "/proc/y", parse_count).error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace cohort::machine

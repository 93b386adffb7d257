#include "records/text_tokens.h"

#include "record_bytes.h"

namespace cohort::records {
namespace {

TEST(Utf8, GoesBothWaysAtTheEdgesOfEveryLength) {
  for (char32_t point :
       {0x0u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xD7FFu, 0xE000u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    const std::string text = utf8_of(point);
    const auto back = first_code_point(text + "tail");
    ASSERT_TRUE(back);
    EXPECT_EQ(back->value, point);
    EXPECT_EQ(back->size_bytes, text.size());
    for (std::size_t cut = 1; cut < text.size(); ++cut) EXPECT_FALSE(first_code_point(text.substr(0, cut)));
  }
}

TEST(Utf8, RefusesWhatIsNone) {
  for (std::string_view bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF8\x80\x80\x80", "\xFF", "\xC3(", "\xE2\x82("}) {
    EXPECT_FALSE(first_code_point(bad)) << testing::PrintToString(bad);
  }
}

TEST(TextTokens, BytesAreTheirOwnNumbers) {
  const auto tokens = tokens_of(TokenKind::kByte, {{"a\xFF\n", "t"}});
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->texts, (std::vector<std::vector<Token>>{{97, 255, 10}}));
  ASSERT_EQ(tokens->vocabulary.size(), 256u);
  EXPECT_EQ(tokens->vocabulary[97], "a");
  EXPECT_EQ(tokens->vocabulary[255], "<ff>");
}

TEST(TextTokens, CharactersAreNumberedInSortedOrderOverAllTexts) {
  const auto tokens = tokens_of(TokenKind::kChar, {{"bä\n€", "train"}, {"xb", "test"}, {"", "none"}});
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->vocabulary, (std::vector<std::string>{"\n", "b", "x", "ä", "€"}));
  EXPECT_EQ(tokens->texts, (std::vector<std::vector<Token>>{{1, 3, 0, 4}, {2, 1}, {}}));
}

TEST(TextTokens, NamesThePlaceThatIsNoUtf8) {
  EXPECT_EQ(text_of(tokens_of(TokenKind::kChar, {{"ok", "a.txt"}, {"one\ntw\xE9", "b.txt"}})),
            "'b.txt' line 2, byte 7 of the file: 0xe9 does not begin a character in UTF-8. Convert the file "
            "to UTF-8, or set "
            "data.tokens to \"byte\".");
}

TEST(TextTokens, TooManyCharactersAreRefused) {
  std::string text;
  for (char32_t point = 0x10000; point < 0x10000 + 65536; ++point) text += utf8_of(point);
  ASSERT_TRUE(tokens_of(TokenKind::kChar, {{text, "t"}}));
  EXPECT_EQ(code_name(tokens_of(TokenKind::kChar, {{text + "a", "t"}})), "unsupported");
}

}  // namespace
}  // namespace cohort::records

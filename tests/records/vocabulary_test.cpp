#include "records/vocabulary.h"

#include "storage/content.h"

#include <gtest/gtest.h>

namespace cohort::records {
namespace {

using Tokens = std::vector<Token>;

TEST(Vocabulary, OfCharacters) {
  const Vocabulary vocabulary(TokenKind::kChar, {" ", "a", "é"});
  EXPECT_EQ(*vocabulary.encode("aé a"), (Tokens{1, 2, 0, 1}));
  EXPECT_EQ(vocabulary.decode({1, 2, 0, 1}), "aé a");
  EXPECT_EQ(*vocabulary.encode(""), Tokens{});
}

TEST(Vocabulary, OfBytes) {
  const Vocabulary vocabulary(TokenKind::kByte, std::vector<std::string>(256, "?"));
  EXPECT_EQ(*vocabulary.encode("a\xff"), (Tokens{97, 255}));
  EXPECT_EQ(vocabulary.decode({97, 255}), "a\xff");
}

TEST(Vocabulary, TakesTheLongestToken) {
  const Vocabulary vocabulary(TokenKind::kChar, {"<1>", "<1>1", "1"});
  EXPECT_EQ(*vocabulary.encode("<1>1<1>"), (Tokens{1, 0}));
}

TEST(Vocabulary, NamesTheCharacterThatIsUnknown) {
  const Vocabulary vocabulary(TokenKind::kChar, {"a", "b"});
  const auto tokens = vocabulary.encode("abü");
  ASSERT_EQ(code_name(tokens), "usage");
  EXPECT_EQ(tokens.error().message(), "'ü', at byte 2 of the text, is none of the 2 tokens of the model");
  EXPECT_NE(vocabulary.encode("a\xff").error().message().find("the byte 0xff"), std::string::npos);
}

}  // namespace
}  // namespace cohort::records

#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::records {

/// A code point and its length in UTF-8.
struct CodePoint {
  char32_t value = 0;
  std::size_t size_bytes = 0;
};

/// The first code point of `text`, which is not empty; nothing if the bytes are not UTF-8: truncated,
/// overlong, a surrogate, or beyond U+10FFFF.
std::optional<CodePoint> first_code_point(std::string_view text);

/// The code point as UTF-8.
std::string utf8_of(char32_t code_point);

/// A token is an index into the vocabulary.
using Token = std::uint16_t;

/// How text becomes tokens.
enum class TokenKind {
  kByte,  ///< every byte is a token; the vocabulary has 256
  kChar,  ///< every code point is a token; the vocabulary is the code points that occur, sorted
};

/// A text and the path of its file, for error messages.
struct NamedText {
  std::string_view text{};
  std::string path{};
};

/// Texts as tokens of one vocabulary.
struct TokenTexts {
  std::vector<std::string> vocabulary{};  ///< the text of each token; `<ff>` for a byte that is not printable
  std::vector<std::vector<Token>> texts{};
};

/// All texts share the vocabulary, so that training and test data have the same tokens.
///
/// Failure: kCorrupt, naming file, line and byte, if kChar gets a text that is not UTF-8; kUnsupported if
/// there are more than 65536 different code points.
Result<TokenTexts> tokens_of(TokenKind kind, const std::vector<NamedText>& texts);

}  // namespace cohort::records

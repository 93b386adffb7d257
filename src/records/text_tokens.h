#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::records {

/// A token is a place in the vocabulary.
using Token = std::uint16_t;

/// How text becomes tokens.
enum class TokenKind {
  kByte,  ///< every byte is a token; the vocabulary has 256
  kChar,  ///< every code point is a token; the vocabulary is those that occur, sorted
};

/// One text and where it is from, for messages.
struct NamedText {
  std::string_view text{};
  std::string path{};
};

/// Texts as tokens of one vocabulary.
struct TokenTexts {
  std::vector<std::string> vocabulary{};  ///< what each token stands for, as UTF-8 where it can be
  std::vector<std::vector<Token>> texts{};
};

/// All texts share the vocabulary, so that one to train on and one to test on fit together.
///
/// Failure: kCorrupt, naming file, line and byte, where kChar meets what is no UTF-8; kUnsupported if there
/// are more than 65536 different code points.
Result<TokenTexts> tokens_of(TokenKind kind, const std::vector<NamedText>& texts);

}  // namespace cohort::records

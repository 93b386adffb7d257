#pragma once

#include "base/result.h"
#include "records/text_tokens.h"

#include <string>
#include <string_view>
#include <vector>

namespace cohort::records {

/// Converts texts to tokens of a given vocabulary, and back.
///
/// Threads: immutable.
class Vocabulary {
 public:
  /// `texts` has the text of each token; for kByte there are 256, which are not looked at.
  Vocabulary(TokenKind kind, std::vector<std::string> texts);

  /// Failure: kUsage, naming the first character that no token has.
  /// Cost: for each token of the text, a look at every token of the vocabulary: for prompts, not for books.
  Result<std::vector<Token>> encode(std::string_view text) const;
  std::string decode(const std::vector<Token>& tokens) const;

 private:
  const TokenKind kind_;
  const std::vector<std::string> texts_;
};

}  // namespace cohort::records

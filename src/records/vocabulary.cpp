#include "records/vocabulary.h"

#include "base/check.h"
#include "records/csv_cells.h"

#include <fmt/format.h>
#include <optional>

namespace cohort::records {
namespace {

Error unknown_character(std::string_view text, std::size_t at, std::size_t num_tokens) {
  const auto point = first_code_point(text.substr(at));
  const std::string character = point ? shown(text.substr(at, point->size_bytes))
                                      : fmt::format("the byte {:#04x}", static_cast<unsigned char>(text[at]));
  return Error(ErrorCode::kUsage,
               fmt::format("{}, at byte {} of the text, is none of the {} tokens of the model", character, at,
                           num_tokens))
      .with_remedy("Use characters that were in the training data.");
}

}  // namespace

Vocabulary::Vocabulary(TokenKind kind, std::vector<std::string> texts)
    : kind_(kind), texts_(std::move(texts)) {}

// The longest token that fits is taken, so that texts may begin like others.
Result<std::vector<Token>> Vocabulary::encode(std::string_view text) const {
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (at < text.size()) {
    if (kind_ == TokenKind::kByte) {
      tokens.push_back(static_cast<unsigned char>(text[at++]));
      continue;
    }
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const bool fits = !texts_[i].empty() && text.substr(at).starts_with(texts_[i]);
      if (fits && (!best || texts_[i].size() > texts_[*best].size())) best = i;
    }
    if (!best) return unknown_character(text, at, texts_.size());
    tokens.push_back(static_cast<Token>(*best));
    at += texts_[*best].size();
  }
  return tokens;
}

std::string Vocabulary::decode(const std::vector<Token>& tokens) const {
  std::string text;
  for (const Token token : tokens) {
    if (kind_ == TokenKind::kByte) {
      text += static_cast<char>(static_cast<unsigned char>(token));
    } else {
      COHORT_CHECK(token < texts_.size());
      text += texts_[token];
    }
  }
  return text;
}

}  // namespace cohort::records

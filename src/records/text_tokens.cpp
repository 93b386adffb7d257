#include "records/text_tokens.h"

#include "records/utf8.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <unordered_map>

namespace cohort::records {
namespace {

Error not_utf8(const NamedText& text, std::size_t offset) {
  const std::string_view before = text.text.substr(0, offset);
  return Error(ErrorCode::kCorrupt,
               fmt::format("'{}' line {}, byte {} of the file: {:#04x} does not begin a character in UTF-8",
                           text.path, std::count(before.begin(), before.end(), '\n') + 1, offset + 1,
                           static_cast<unsigned char>(text.text[offset])))
      .with_remedy("Convert the file to UTF-8, or set data.tokens to \"byte\".");
}

// Calls `visit` for every code point.
template <class Visit>
Status for_each_code_point(const NamedText& text, Visit visit) {
  std::size_t at = 0;
  while (at < text.text.size()) {
    const auto point = first_code_point(text.text.substr(at));
    if (!point) return not_utf8(text, at);
    visit(point->value);
    at += point->size_bytes;
  }
  return {};
}

TokenTexts byte_tokens(const std::vector<NamedText>& texts) {
  TokenTexts tokens;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = byte >= 0x20 && byte < 0x7F;
    tokens.vocabulary.push_back(printable ? std::string(1, static_cast<char>(byte))
                                          : fmt::format("<{:02x}>", byte));
  }
  for (const NamedText& text : texts) {
    std::vector<Token>& out = tokens.texts.emplace_back(text.text.size());
    std::transform(text.text.begin(), text.text.end(), out.begin(),
                   [](char c) { return static_cast<Token>(static_cast<unsigned char>(c)); });
  }
  return tokens;
}

Result<TokenTexts> char_tokens(const std::vector<NamedText>& texts) {
  std::set<char32_t> points;
  for (const NamedText& text : texts) {
    COHORT_RETURN_IF_ERROR(for_each_code_point(text, [&](char32_t point) { points.insert(point); }));
  }
  if (points.size() > std::size_t{std::numeric_limits<Token>::max()} + 1) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("{} different characters are more than tokens can number", points.size()))
        .with_remedy("Set data.tokens to \"byte\".");
  }
  TokenTexts tokens;
  std::unordered_map<char32_t, Token> number;
  for (char32_t point : points) {
    number.emplace(point, static_cast<Token>(number.size()));
    tokens.vocabulary.push_back(utf8_of(point));
  }
  for (const NamedText& text : texts) {
    std::vector<Token>& out = tokens.texts.emplace_back();
    COHORT_RETURN_IF_ERROR(
        for_each_code_point(text, [&](char32_t point) { out.push_back(number.at(point)); }));
  }
  return tokens;
}

}  // namespace

Result<TokenTexts> tokens_of(TokenKind kind, const std::vector<NamedText>& texts) {
  if (kind == TokenKind::kByte) return byte_tokens(texts);
  return char_tokens(texts);
}

}  // namespace cohort::records

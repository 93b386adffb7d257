#include "records/text_tokens.h"

#include "base/check.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <unordered_map>

namespace cohort::records {
namespace {

// Code points by length: mask and mark of the first byte, and the smallest value that needs this length.
struct Kind {
  unsigned mask;
  unsigned mark;
  char32_t smallest;
};
constexpr Kind kKinds[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};

bool is_sound(char32_t value, char32_t smallest) {
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return value >= smallest && value <= 0x10FFFF && !surrogate;
}

}  // namespace

std::optional<CodePoint> first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t more = 0; more < std::size(kKinds); ++more) {
    const Kind& kind = kKinds[more];
    if ((byte(0) & kind.mask) != kind.mark) continue;
    if (text.size() <= more) return std::nullopt;
    char32_t value = byte(0) & ~kind.mask;
    for (std::size_t i = 1; i <= more; ++i) {
      if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
      value = value << 6 | (byte(i) & 0x3F);
    }
    if (!is_sound(value, kind.smallest)) return std::nullopt;
    return CodePoint{value, more + 1};
  }
  return std::nullopt;
}

std::string utf8_of(char32_t code_point) {
  COHORT_CHECK(is_sound(code_point, 0));
  std::size_t more = std::size(kKinds) - 1;
  while (code_point < kKinds[more].smallest) --more;
  std::string text(more + 1, '\0');
  for (std::size_t i = more; i > 0; --i) {
    text[i] = static_cast<char>(0x80 | (code_point & 0x3F));
    code_point >>= 6;
  }
  text[0] = static_cast<char>(kKinds[more].mark | code_point);
  return text;
}

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

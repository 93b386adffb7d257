#include "records/utf8.h"

#include "base/check.h"

namespace cohort::records {
namespace {

// The kinds of code point by length: the bits that mark the first byte, and the smallest value that needs as
// many.
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

}  // namespace cohort::records

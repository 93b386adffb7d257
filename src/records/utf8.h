#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace cohort::records {

/// A code point at the beginning of some text.
struct CodePoint {
  char32_t value = 0;
  std::size_t size_bytes = 0;
};

/// The first code point of `text`, which is not empty; nothing if the bytes are no UTF-8: cut, overlong, a
/// surrogate, or beyond U+10FFFF.
std::optional<CodePoint> first_code_point(std::string_view text);

/// The code point as UTF-8.
std::string utf8_of(char32_t code_point);

}  // namespace cohort::records

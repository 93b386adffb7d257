#pragma once

#include "base/result.h"
#include "machine/sources.h"

#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Reading the small text files in which the kernel answers questions. Views point into the text given.

namespace cohort::machine {

/// Without blanks and line ends on both sides.
std::string_view trimmed(std::string_view text);
/// The pieces between separators, empty ones included.
std::vector<std::string_view> split(std::string_view text, char separator);
/// The words between blanks and line ends.
std::vector<std::string_view> words_of(std::string_view text);

/// The value of the first line `key <separator> value`, or nothing.
std::optional<std::string_view> field(std::string_view text, std::string_view key, char separator);

/// A whole decimal number and nothing else, blanks around it aside.
Result<std::uint64_t> parse_count(std::string_view text);
/// How many numbers a list such as `0-3,8` holds.
Result<int> parse_list_length(std::string_view text);

/// Reads a file and parses it; what the parser refuses is reported with the path.
template <class Parse>
auto parsed(const ReadText& read, const std::string& path, Parse parse)
    -> decltype(parse(std::string_view())) {
  const Result<std::string> text = read(path);
  if (!text) return text.error();
  return parse(std::string_view(*text)).within(fmt::format("cannot make sense of '{}'", path));
}

}  // namespace cohort::machine

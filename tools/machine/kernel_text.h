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

/// Parsing of the small text files in /proc and /sys. The returned views point into the given text.

namespace cohort::machine {

/// The text without spaces and line ends at both sides.
std::string_view trimmed(std::string_view text);
/// The parts between separators; empty parts are included.
std::vector<std::string_view> split(std::string_view text, char separator);
/// The words between spaces and line ends.
std::vector<std::string_view> words_of(std::string_view text);

/// The value of the first line `key <separator> value`; empty if there is none.
std::optional<std::string_view> field(std::string_view text, std::string_view key, char separator);

/// A whole decimal number; spaces around it are allowed.
Result<std::uint64_t> parse_count(std::string_view text);
/// The count of numbers in a list such as `0-3,8`.
Result<int> parse_list_length(std::string_view text);

/// Reads a file and parses it; the error of the parser gets the path.
template <class Parse>
auto parsed(const ReadText& read, const std::string& path, Parse parse)
    -> decltype(parse(std::string_view())) {
  const Result<std::string> text = read(path);
  if (!text) return text.error();
  return parse(std::string_view(*text)).within(fmt::format("cannot parse '{}'", path));
}

}  // namespace cohort::machine

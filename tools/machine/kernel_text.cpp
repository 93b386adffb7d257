#include "machine/kernel_text.h"

#include <charconv>
#include <limits>

namespace cohort::machine {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (auto end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  pieces.push_back(text);
  return pieces;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (auto first = text.find_first_not_of(kBlanks); first != std::string_view::npos;
       first = text.find_first_not_of(kBlanks)) {
    text.remove_prefix(first);
    words.push_back(text.substr(0, text.find_first_of(kBlanks)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

std::optional<std::string_view> field(std::string_view text, std::string_view key, char separator) {
  for (const std::string_view line : split(text, '\n')) {
    const auto end = line.find(separator);
    if (end != std::string_view::npos && trimmed(line.substr(0, end)) == key) {
      return trimmed(line.substr(end + 1));
    }
  }
  return std::nullopt;
}

Result<std::uint64_t> parse_count(std::string_view text) {
  const std::string_view digits = trimmed(text);
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc() || end != digits.data() + digits.size()) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' is not a whole number", digits));
  }
  return number;
}

Result<int> parse_list_length(std::string_view text) {
  std::uint64_t length = 0;
  for (const std::string_view range : split(trimmed(text), ',')) {
    const auto dash = range.find('-');
    COHORT_ASSIGN_OR_RETURN(const std::uint64_t first, parse_count(range.substr(0, dash)));
    std::uint64_t last = first;
    if (dash != std::string_view::npos) {
      COHORT_ASSIGN_OR_RETURN(last, parse_count(range.substr(dash + 1)));
    }
    if (last < first || last > std::numeric_limits<std::uint16_t>::max()) {
      return Error(ErrorCode::kCorrupt, fmt::format("'{}' is not a range of numbers", range));
    }
    length += last - first + 1;
  }
  return static_cast<int>(length);
}

}  // namespace cohort::machine

#include "records/csv_cells.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace cohort::records {

std::string_view trimmed(std::string_view cell) {
  constexpr std::string_view kBlank = " \t";
  const std::size_t first = cell.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return cell.substr(first, cell.find_last_not_of(kBlank) - first + 1);
}

std::optional<float> number_in(std::string_view cell) {
  std::string_view text = trimmed(cell);
  if (text.starts_with("+") && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!(std::abs(value) <= std::numeric_limits<float>::max())) return std::nullopt;
  return static_cast<float>(value);
}

std::string shown(std::string_view cell) {
  constexpr std::size_t kLongest = 40;
  std::string text(cell.substr(0, kLongest));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return "'" + text + (cell.size() > kLongest ? "…'" : "'");
}

}  // namespace cohort::records

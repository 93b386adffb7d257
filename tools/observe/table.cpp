#include "observe/table.h"

#include "base/check.h"

#include <algorithm>

namespace cohort::observe {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowestColumn = 24;

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t columns = columns_of(text);
  return columns >= width ? text : text + std::string(width - columns, ' ');
}

void append_trimmed(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
  std::vector<std::string> lines{std::string(indent, ' ')};
  bool has_words = false;
  text.remove_prefix(indent);
  while (!text.empty()) {
    const auto space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    std::string& line = lines.back();
    if (has_words && columns_of(line) + 1 + columns_of(word) > width) {
      lines.emplace_back(word);
    } else {
      line += (has_words ? " " : "") + std::string(word);
    }
    has_words = true;
  }
  return lines;
}

void Table::add(std::vector<Cell> row) {
  COHORT_CHECK_EQ(row.size(), header_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text(const Screen& screen) const {
  std::vector<std::size_t> widths;
  for (const std::string& title : header_) widths.push_back(columns_of(title));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i].text));
  }
  std::size_t indent = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) indent += widths[i] + kGap;
  const auto total = static_cast<std::size_t>(screen.columns);
  const std::size_t last_width = total > indent + kNarrowestColumn ? total - indent : kNarrowestColumn;

  std::string out;
  std::string title_line;
  for (std::size_t i = 0; i < header_.size(); ++i) {
    title_line += padded(header_[i], i + 1 < header_.size() ? widths[i] + kGap : 0);
  }
  append_trimmed(out, screen.coloured(title_line, Colour::kFaint));
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      line += screen.coloured(row[i].text, row[i].colour) +
              padded("", widths[i] + kGap - columns_of(row[i].text));
    }
    const auto pieces = wrapped(row.back().text, last_width);
    append_trimmed(out, line + screen.coloured(pieces.front(), row.back().colour));
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      append_trimmed(out, std::string(indent, ' ') + screen.coloured(pieces[i], row.back().colour));
    }
  }
  return out;
}

}  // namespace cohort::observe

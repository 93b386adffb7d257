#include "records/csv_rows.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::records {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

CsvRows::CsvRows(std::string_view text, std::string path) : text_(text), path_(std::move(path)) {
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

Error CsvRows::mistake(std::uint64_t line, std::size_t column, std::string_view what) const {
  return Error(ErrorCode::kCorrupt, fmt::format("'{}' line {}, column {}: {}", path_, line, column, what));
}

bool CsvRows::at_line_end() const {
  return text_.substr(at_).starts_with("\n") || text_.substr(at_).starts_with("\r\n");
}

void CsvRows::pass_line_end() {
  if (at_ == text_.size()) return;
  at_ += text_[at_] == '\r' ? 2 : 1;
  ++line_;
}

void CsvRows::skip_empty_lines() {
  while (at_line_end()) pass_line_end();
}

Result<bool> CsvRows::next(CsvRow& row) {
  skip_empty_lines();
  row.cells.clear();
  unquoted_.clear();
  row.line = line_;
  if (at_ == text_.size()) return false;
  while (true) {
    COHORT_ASSIGN_OR_RETURN(const After after, take_cell(row));
    if (after == After::kRow) return true;
  }
}

Result<CsvRows::After> CsvRows::take_cell(CsvRow& row) {
  const std::size_t column = row.cells.size() + 1;
  if (at_ < text_.size() && text_[at_] == '"') {
    COHORT_ASSIGN_OR_RETURN(const std::string_view cell, take_quoted(column));
    row.cells.push_back(cell);
    if (at_ < text_.size() && text_[at_] != ',' && !at_line_end()) {
      return mistake(line_, column, "something follows the closing quote");
    }
  } else {
    const std::size_t end = std::min(text_.find_first_of(",\n\"", at_), text_.size());
    if (end < text_.size() && text_[end] == '"') {
      return mistake(line_, column, "a quote stands within a cell that does not begin with one")
          .with_remedy("Put the whole cell in quotes and write each quote inside twice.");
    }
    const bool with_return =
        end > at_ && text_[end - 1] == '\r' && (end == text_.size() || text_[end] == '\n');
    row.cells.push_back(text_.substr(at_, end - at_ - (with_return ? 1 : 0)));
    at_ = end;
  }
  if (at_ < text_.size() && text_[at_] == ',') {
    ++at_;
    return After::kCell;
  }
  pass_line_end();
  return After::kRow;
}

Result<std::string_view> CsvRows::take_quoted(std::size_t column) {
  const std::uint64_t first_line = line_;
  const std::size_t begin = ++at_;
  std::string* copy = nullptr;
  std::size_t copied = begin;
  while (true) {
    const std::size_t quote = text_.find('"', at_);
    if (quote == std::string_view::npos) return mistake(first_line, column, "the quote is never closed");
    line_ += static_cast<std::uint64_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(quote), '\n'));
    at_ = quote + 1;
    const bool doubled = at_ < text_.size() && text_[at_] == '"';
    if (!doubled && copy == nullptr) return text_.substr(begin, quote - begin);
    if (copy == nullptr) copy = &unquoted_.emplace_back();
    copy->append(text_, copied, (doubled ? at_ : quote) - copied);
    if (!doubled) return std::string_view(*copy);
    copied = ++at_;
  }
}

}  // namespace cohort::records

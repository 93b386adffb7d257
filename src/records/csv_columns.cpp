#include "records/csv_columns.h"

#include "records/csv_cells.h"
#include "records/csv_rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::records {
namespace {

std::vector<std::string> cells_of(const CsvRow& row) {
  std::vector<std::string> cells;
  for (const std::string_view cell : row.cells) cells.emplace_back(trimmed(cell));
  return cells;
}

bool is_header(const CsvRow& row) {
  return !std::all_of(row.cells.begin(), row.cells.end(),
                      [](std::string_view cell) { return number_in(cell).has_value(); });
}

// At most a few names in a message.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, names.size())));
  return fmt::format("'{}'{}", fmt::join(first, "', '"),
                     names.size() > kMost ? fmt::format(" and {} more", names.size() - kMost) : "");
}

Result<std::vector<std::size_t>> by_name(const std::vector<std::string>& header, const std::string& path,
                                         const WantedColumns& wanted) {
  std::vector<std::size_t> columns;
  std::vector<std::string> missing;
  for (const std::string& name : wanted.names) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end()) missing.push_back(name);
    columns.push_back(static_cast<std::size_t>(found - header.begin()));
  }
  if (missing.empty()) return columns;
  return Error(ErrorCode::kUsage,
               fmt::format("'{}' has no column {}, which the model takes; its columns are {}", path,
                           some_of(missing), some_of(header)))
      .with_remedy("Give the columns the names that they had in the training data.");
}

Result<std::vector<std::size_t>> by_position(std::size_t count, const std::vector<std::string>& header,
                                             const std::string& path, const WantedColumns& wanted) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_target = !wanted.target.empty() && i < header.size() && header[i] == wanted.target;
    if (!is_target) columns.push_back(i);
  }
  if (columns.size() == wanted.count) return columns;
  return Error(ErrorCode::kUsage,
               fmt::format("'{}' has {} columns; the model takes {}", path, columns.size(), wanted.count))
      .with_remedy(wanted.names.empty() ? "Give one column for each input of the model."
                                        : "Begin the file with a line of column names, as in training.");
}

Result<std::vector<std::size_t>> columns_for(const CsvRow& first, const std::vector<std::string>& header,
                                             const std::string& path, const WantedColumns& wanted) {
  if (!header.empty() && !wanted.names.empty()) return by_name(header, path, wanted);
  return by_position(first.cells.size(), header, path, wanted);
}

Status take_row(const CsvRow& row, const std::vector<std::size_t>& columns, const std::string& path,
                CsvColumns& into) {
  for (const std::size_t column : columns) {
    const std::optional<float> number = number_in(row.cells[column]);
    if (!number) {
      return Error(ErrorCode::kCorrupt, fmt::format("'{}' line {}, column {}: {} is not a number", path,
                                                    row.line, column + 1, shown(row.cells[column])));
    }
    into.numbers.push_back(*number);
  }
  into.rows.push_back(cells_of(row));
  return {};
}

}  // namespace

Result<CsvColumns> parse_csv_columns(std::string_view text, const std::string& path,
                                     const WantedColumns& wanted) {
  CsvRows rows(text, path);
  CsvRow row;
  COHORT_ASSIGN_OR_RETURN(bool more, rows.next(row));
  if (!more) return Error(ErrorCode::kCorrupt, fmt::format("'{}' is empty", path));
  CsvColumns table;
  if (is_header(row)) table.header = cells_of(row);
  COHORT_ASSIGN_OR_RETURN(const auto columns, columns_for(row, table.header, path, wanted));
  const std::size_t width = row.cells.size();
  if (!table.header.empty()) {
    COHORT_ASSIGN_OR_RETURN(more, rows.next(row));
  }
  while (more) {
    if (row.cells.size() != width) {
      return Error(ErrorCode::kCorrupt, fmt::format("'{}' line {}: {} cells, where the first row has {}",
                                                    path, row.line, row.cells.size(), width));
    }
    COHORT_RETURN_IF_ERROR(take_row(row, columns, path, table));
    COHORT_ASSIGN_OR_RETURN(more, rows.next(row));
  }
  return table;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + '"';
}

}  // namespace cohort::records

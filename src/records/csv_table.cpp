#include "records/csv_table.h"

#include "records/csv_cells.h"
#include "records/csv_rows.h"
#include "records/record_file.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::records {
namespace {

/// Gathers the rows of one file.
class TableBuilder {
 public:
  TableBuilder(const std::string& path, const CsvOptions& options) : path_(path), options_(options) {}

  Status take_header(const CsvRow& row);
  Status take_row(const CsvRow& row);
  Result<CsvTable> finish() &&;

 private:
  Error mistake(const CsvRow& row, std::size_t column, std::string_view what) const;
  Status find_target();

  const std::string& path_;
  const CsvOptions& options_;
  std::vector<std::string> names_;
  std::size_t target_ = 0;
  TargetColumn targets_;
  CsvTable table_;
};

Error TableBuilder::mistake(const CsvRow& row, std::size_t column, std::string_view what) const {
  return Error(ErrorCode::kCorrupt, fmt::format("'{}' line {}, column {} ('{}'): {}", path_, row.line,
                                                column + 1, names_[column], what));
}

Status TableBuilder::take_header(const CsvRow& row) {
  for (std::string_view cell : row.cells) names_.emplace_back(trimmed(cell));
  if (std::all_of(row.cells.begin(), row.cells.end(),
                  [](auto cell) { return number_in(cell).has_value(); })) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("'{}' line {}: numbers stand where the header should be", path_, row.line))
        .with_remedy("Begin the file with a line of column names.");
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto earlier = names_.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(names_.begin(), earlier, names_[i]) != earlier) {
      return mistake(row, i, "an earlier column has the same name");
    }
  }
  return find_target();
}

Status TableBuilder::find_target() {
  target_ = names_.size() - 1;
  if (!options_.target_column.empty()) {
    const auto found = std::find(names_.begin(), names_.end(), options_.target_column);
    if (found == names_.end()) {
      return Error(ErrorCode::kUsage, fmt::format("'{}' has no column '{}'", path_, options_.target_column))
          .with_remedy(fmt::format("Name one of its {} columns as the target; the last one is '{}'.",
                                   names_.size(), names_.back()));
    }
    target_ = static_cast<std::size_t>(found - names_.begin());
  }
  if (names_.size() < 2) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' has one column only", path_))
        .with_remedy("A feature and a target are the least there can be; columns are separated by commas.");
  }
  table_.target_name = names_[target_];
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i != target_) table_.feature_names.push_back(names_[i]);
  }
  return {};
}

Status TableBuilder::take_row(const CsvRow& row) {
  if (row.cells.size() != names_.size()) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' line {}: {} cells, where the header has {}", path_,
                                                  row.line, row.cells.size(), names_.size()));
  }
  for (std::size_t column = 0; column < row.cells.size(); ++column) {
    const std::string_view cell = row.cells[column];
    if (trimmed(cell).empty()) return mistake(row, column, "the cell is empty");
    if (column == target_) {
      targets_.take(trimmed(cell), row.line);
      continue;
    }
    const std::optional<float> number = number_in(cell);
    if (!number) return mistake(row, column, fmt::format("{} is not a number", shown(cell)));
    table_.features.push_back(*number);
  }
  return {};
}

Result<CsvTable> TableBuilder::finish() && {
  if (targets_.size() == 0) {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' has a header and no rows", path_));
  }
  const std::string column = fmt::format("column '{}' of '{}'", table_.target_name, path_);
  COHORT_ASSIGN_OR_RETURN(auto targets, std::move(targets_).finish(options_.target, column));
  table_.targets = std::move(targets.numbers);
  table_.class_names = std::move(targets.class_names);
  return std::move(table_);
}

}  // namespace

Result<CsvTable> parse_csv(std::string_view text, const std::string& path, const CsvOptions& options) {
  CsvRows rows(text, path);
  CsvRow row;
  COHORT_ASSIGN_OR_RETURN(const bool any, rows.next(row));
  if (!any) return Error(ErrorCode::kCorrupt, fmt::format("'{}' is empty", path));
  TableBuilder table(path, options);
  COHORT_RETURN_IF_ERROR(table.take_header(row));
  while (true) {
    COHORT_ASSIGN_OR_RETURN(const bool more, rows.next(row));
    if (!more) return std::move(table).finish();
    COHORT_RETURN_IF_ERROR(table.take_row(row));
  }
}

Result<CsvTable> read_csv(FileSystem& fs, const std::string& path, const CsvOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const std::string content, read_record_file(fs, path));
  return parse_csv(content, path, options);
}

}  // namespace cohort::records

#pragma once

#include "base/result.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::records {

/// A row of a CSV file.
struct CsvRow {
  std::uint64_t line = 0;  ///< first line of the row, from 1
  std::vector<std::string_view> cells{};
};

/// Reads the rows of CSV text (RFC 4180): cells in quotes may contain commas, line ends and doubled quotes.
/// Lines end with LF or CR LF; the last line may end without. Empty lines and a byte-order mark are skipped.
///
/// Lifetime: the text and the reader must outlive the rows.
/// Failure: kCorrupt, naming `path`, line and column.
class CsvRows {
 public:
  CsvRows(std::string_view text, std::string path);

  /// Reads the next row into `row`; false at the end of the text.
  Result<bool> next(CsvRow& row);

 private:
  enum class After { kCell, kRow };
  Result<After> take_cell(CsvRow& row);
  Result<std::string_view> take_quoted(std::size_t column);
  void skip_empty_lines();
  bool at_line_end() const;
  void pass_line_end();
  Error mistake(std::uint64_t line, std::size_t column, std::string_view what) const;

  const std::string_view text_;
  const std::string path_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
  std::deque<std::string> unquoted_;  // cells without the doubled quotes of the text
};

}  // namespace cohort::records

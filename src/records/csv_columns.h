#pragma once

#include "storage/file_system.h"

#include <string>
#include <string_view>
#include <vector>

namespace cohort::records {

/// The columns that a model takes.
struct WantedColumns {
  std::vector<std::string> names{};  ///< may be empty: columns by their positions
  std::size_t count = 0;
  std::string target{};  ///< the column that the model predicts, if it has a name: not among the inputs
};

/// Rows of a CSV file as a model takes them, and as they stand in the file.
struct CsvColumns {
  std::vector<std::string> header{};             ///< empty if the file has none
  std::vector<std::vector<std::string>> rows{};  ///< the cells of each row, trimmed
  std::vector<float> numbers{};                  ///< of the wanted columns, row after row
};

/// Reads the wanted columns of CSV text. The first row is a header unless all its cells are numbers. With a
/// header, columns are found by their names, in any order and among others; without a header, or if the
/// model's columns have no names, they are the columns from the left, without the target if the header has
/// it, and there must be exactly as many.
///
/// Failure: kUsage names the columns that are missing; kCorrupt, naming `path`, line and column, if a cell is
/// not a number or a row has too many or too few cells.
Result<CsvColumns> parse_csv_columns(std::string_view text, const std::string& path,
                                     const WantedColumns& wanted);

/// A cell of a CSV file: in quotes if it needs them.
std::string csv_cell(const std::string& text);

}  // namespace cohort::records

#pragma once

#include "storage/file_system.h"

#include <optional>

namespace cohort::records {

struct CsvOptions {
  std::string target_column{};  ///< empty: the last column
};

/// A CSV file with a header, as numbers: one target column; the other columns are features.
struct CsvTable {
  std::vector<std::string> feature_names{};
  std::string target_name{};
  std::vector<float> features{};  ///< row after row
  std::vector<float> targets{};   ///< numbers, or the index of each row's class
  /// The distinct texts of a target column, sorted; a class is an index into this list. Empty if all targets
  /// are numbers.
  std::vector<std::string> class_names{};

  std::size_t num_rows() const { return targets.size(); }
  std::size_t num_features() const { return feature_names.size(); }
};

/// Failure: kCorrupt, naming `path`, line and column, if a cell is not a number, a row has too many or too few
/// cells, or quotes are wrong; kUsage if the target column does not exist.
Result<CsvTable> parse_csv(std::string_view text, const std::string& path, const CsvOptions& options = {});

/// The same for a file, compressed with gzip or not.
Result<CsvTable> read_csv(FileSystem& fs, const std::string& path, const CsvOptions& options = {});

}  // namespace cohort::records

#pragma once

#include "records/csv_target.h"
#include "storage/file_system.h"

namespace cohort::records {

struct CsvOptions {
  std::string target_column{};  ///< empty: the last column
  CsvTarget target = CsvTarget::kAuto;
};

/// A CSV file with a header, as numbers: one target column; the other columns are features.
struct CsvTable {
  std::vector<std::string> feature_names{};
  std::string target_name{};
  std::vector<float> features{};  ///< row after row
  std::vector<float> targets{};   ///< numbers, or the index of each row's class
  /// The distinct texts, or whole numbers, of a target column of classes, sorted; a class is an index into
  /// this list. Empty if the targets are numbers.
  std::vector<std::string> class_names{};

  std::size_t num_rows() const { return targets.size(); }
  std::size_t num_features() const { return feature_names.size(); }
};

/// Failure: kCorrupt, naming `path`, line and column, if a cell is not a number, a row has too many or too
/// few cells, or quotes are wrong; kUsage if the target column does not exist or is not what data.target
/// says.
Result<CsvTable> parse_csv(std::string_view text, const std::string& path, const CsvOptions& options = {});

/// The same for a file, compressed with gzip or not.
Result<CsvTable> read_csv(FileSystem& fs, const std::string& path, const CsvOptions& options = {});

/// The files of a data set: rows to train with and, if `test` is not empty, rows to test with.
struct CsvPaths {
  std::string train{};
  std::string test{};
};

/// The rows of both files in one table, so that they have the same classes and the same scale of columns.
struct CsvFiles {
  CsvTable table{};
  std::size_t num_train = 0;  ///< the first rows; the others are those of the test file
};

/// Failure: as read_csv(); kUsage if the test file has other columns, or a class that the other file lacks.
Result<CsvFiles> read_csv_files(FileSystem& fs, const CsvPaths& paths, CsvOptions options);

}  // namespace cohort::records

#pragma once

#include "records/csv_table.h"

namespace cohort::records {

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

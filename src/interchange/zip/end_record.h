#pragma once

#include "interchange/input/file_window.h"

namespace cohort::interchange {

/// Where the directory of a zip file is.
struct ZipEnd {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t num_records = 0;
};

/// Finds the end record, with which a zip file ends, and the zip64 end record if there is one.
///
/// Failure: kCorrupt if there is no end record, or the directory is not inside the file.
Result<ZipEnd> find_zip_end(const FileWindow& file);

}  // namespace cohort::interchange

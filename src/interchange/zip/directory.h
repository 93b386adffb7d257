#pragma once

#include "interchange/input/file_window.h"

#include <string>
#include <vector>

namespace cohort::interchange {

/// An entry as the directory at the end of a zip file describes it.
struct ZipRecord {
  std::string name{};
  std::uint64_t header_offset = 0;  ///< of its local header
  std::uint64_t size_bytes = 0;
  std::uint32_t crc = 0;
};

struct ZipDirectory {
  std::vector<ZipRecord> records{};
  std::uint64_t offset = 0;  ///< of the first record
};

/// Reads the directory of a zip file.
///
/// Failure: kCorrupt, naming the field, for records that break the format, names that lead out of a folder,
/// and names that occur twice; kUnsupported for entries that are compressed or encrypted.
/// Cost: memory for the directory.
Result<ZipDirectory> read_zip_directory(const FileWindow& file);

}  // namespace cohort::interchange

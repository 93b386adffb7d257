#pragma once

#include "interchange/input/file_window.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::interchange {

/// An entry of a zip file whose data can be read at any offset.
struct ZipEntry {
  std::string name{};
  FileWindow data;
  std::uint32_t crc = 0;
};

/// A zip file of stored entries that was checked: every entry has its local header and its data where the
/// directory says, and no two entries share a byte.
///
/// Threads: immutable.
/// Lifetime: the file must outlive it.
class ZipArchive {
 public:
  /// Whether the file begins as a zip file does.
  static Result<bool> is_zip(const FileWindow& file);
  /// Failure: kCorrupt, naming entry and field; kUnsupported for compressed or encrypted entries.
  static Result<ZipArchive> open(const FileWindow& file);

  /// In the order of their data.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  /// Null if there is no entry of this name.
  const ZipEntry* find(std::string_view name) const;
  /// Whether the writer computed checksums. torch.serialization.set_crc32_options(False) writes zeros.
  bool has_checksums() const;

 private:
  ZipArchive() = default;

  std::vector<ZipEntry> entries_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

/// Reads all of an entry and compares its checksum.
///
/// Failure: kCorrupt if the checksum differs.
/// Cost: a buffer of 1 MiB.
Status check_crc(const ZipEntry& entry);
/// kCorrupt if this is not the checksum of the entry.
Status expect_crc(const ZipEntry& entry, std::uint32_t found);

}  // namespace cohort::interchange

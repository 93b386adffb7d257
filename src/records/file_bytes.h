#pragma once

#include "storage/file_system.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace cohort::records {

/// The bytes of a data file, read at any place.
///
/// Threads: any number of threads may read.
/// Lifetime: must not outlive the FileSystem.
class FileBytes {
 public:
  virtual ~FileBytes() = default;

  virtual std::uint64_t size_bytes() const = 0;
  /// Fills `into` with the bytes from `first` on.
  ///
  /// Failure: kCorrupt, naming the file, if it ends before; else as FileSystem.
  virtual Status read(std::uint64_t first, std::span<std::byte> into) const = 0;
  /// The name of the file in messages.
  virtual const std::string& path() const = 0;
};

/// Opens a file. A gzip file cannot be read at any place: it is decompressed, and held in memory.
///
/// Failure: as FileSystem, and as read_record_file() for a gzip file.
Result<std::shared_ptr<const FileBytes>> open_file_bytes(FileSystem& fs, const std::string& path);

/// Bytes that are in memory already.
std::shared_ptr<const FileBytes> bytes_in_memory(std::string content, std::string path);

}  // namespace cohort::records

#pragma once

#include "storage/whole_file.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::interchange {

/// Writes a zip file of stored entries from front to back. The data of each entry begin at a multiple of 64
/// bytes, behind an extra field that fills the gap; its checksum follows the data.
///
/// Threads: one at a time.
/// Lifetime: the file must outlive it.
/// Failure: as WritableFile. After an error the file is worthless.
class ZipWriter {
 public:
  explicit ZipWriter(WritableFile& file) : file_(file) {}

  Status add(const std::string& name, std::span<const std::byte> bytes);
  /// An entry of exactly `size_bytes` bytes, which `content` appends.
  Status add(const std::string& name, std::uint64_t size_bytes, const WriteContent& content);
  /// Writes the directory. Nothing may be added afterwards.
  Status finish();

 private:
  struct Record {
    std::string name{};
    std::uint64_t header_offset = 0;
    std::uint64_t size_bytes = 0;
    std::uint32_t crc = 0;
  };

  Status append(std::span<const std::byte> bytes);
  Status append_header(const Record& record);
  Status append_descriptor(const Record& record);
  Status append_record(const Record& record);
  Status append_end(std::uint64_t directory_offset);

  WritableFile& file_;
  std::uint64_t offset_ = 0;
  std::vector<Record> records_;
};

}  // namespace cohort::interchange

#pragma once

#include "storage/file_system.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace cohort::records {

/// Data sets are held in memory; no larger file is read.
inline constexpr std::uint64_t kMaxFileBytes = std::uint64_t{16} << 30;

/// The content of a data file, decompressed if it begins with the magic number of gzip.
///
/// Failure: kCorrupt if the gzip data is damaged, or if the name ends in `.gz` and the content is not gzip;
/// kUsage if the content is larger than `max_bytes`; else as FileSystem.
Result<std::string> read_record_file(FileSystem& fs, const std::string& path,
                                     std::uint64_t max_bytes = kMaxFileBytes);

/// True if these bytes begin with the magic number of gzip.
bool is_gzip(std::string_view bytes);

/// The decompressed content of a gzip file of one or more members.
///
/// Failure: kCorrupt, naming `path` and the byte offset, if the data is damaged, truncated or followed by
/// other bytes; kUsage if the content is larger than `max_bytes`.
/// Cost: memory grows with the bytes that were decompressed, whatever size the file claims.
Result<std::string> gunzip(std::string_view bytes, const std::string& path, std::uint64_t max_bytes);

}  // namespace cohort::records

#pragma once

#include "storage/file_system.h"

namespace cohort::records {

/// Data sets are held in memory; nothing larger is read.
inline constexpr std::uint64_t kMaxFileBytes = std::uint64_t{16} << 30;

/// The content of a data file, unpacked if it begins as gzip does.
///
/// Failure: kCorrupt if the gzip data is damaged, or if the name ends in `.gz` and it is none; kUsage if
/// there is too much; else as FileSystem says.
Result<std::string> read_record_file(FileSystem& fs, const std::string& path,
                                     std::uint64_t max_bytes = kMaxFileBytes);

}  // namespace cohort::records

#pragma once

#include "storage/file_system.h"

#include <functional>

namespace cohort {

inline constexpr std::uint64_t kReadFileMaxBytes = std::uint64_t{1} << 30;

/// Everything in the file, also in those of /proc and /sys that do not know their size.
///
/// Failure: kUsage if there is more than `max_bytes`; else as FileSystem says.
/// Cost: one allocation of the size the file claims; one that holds more is read in doubling pieces.
Result<std::string> read_file(FileSystem& fs, const std::string& path,
                              std::uint64_t max_bytes = kReadFileMaxBytes);

/// Puts a file with these bytes at `path`, in one step: at every moment, after a power cut too, the path
/// holds the old file or the whole new one. On success the new one survives a power cut. The bytes are first
/// written to `.<name>.tmp` beside it; what an earlier crash left there is removed. A link at `path` is
/// replaced by the file, and the file has the permissions of a new one.
///
/// Threads: one writer of a path at a time, over all processes; any number of readers.
/// Failure: the temporary file is removed and the old file is untouched; only if syncing the directory, the
/// last step, is what failed, the new file is in place and may not survive a power cut.
Status write_file_atomically(FileSystem& fs, const std::string& path, std::span<const std::byte> bytes);

/// Appends what a file shall hold; syncing and closing are not its business.
using WriteContent = std::function<Status(WritableFile&)>;
/// The same for a file that is written in pieces. An error of `content` is returned, and the old file is
/// untouched.
Status write_file_atomically(FileSystem& fs, const std::string& path, const WriteContent& content);

}  // namespace cohort

#pragma once

#include "storage/file_system.h"

#include <functional>

namespace cohort {

inline constexpr std::uint64_t kReadFileMaxBytes = std::uint64_t{1} << 30;

/// The content of a file. Works for files of /proc and /sys, too, which report size 0.
///
/// Failure: kUsage if the file is larger than `max_bytes`; otherwise as FileSystem.
/// Cost: one allocation of the reported size; a file that holds more is read in pieces of doubling size.
Result<std::string> read_file(FileSystem& fs, const std::string& path,
                              std::uint64_t max_bytes = kReadFileMaxBytes);

/// Replaces the file at `path` atomically: readers, and the disk after a power cut, have either the old file
/// or the whole new file. On success the new file survives a power cut. The bytes are first written to
/// storage::temporary_of(path), `.<name>.tmp` in the same directory; a file that a crash left under that name
/// is removed. A symbolic link at `path` is replaced by the file, and the permissions are those of a new
/// file.
///
/// Threads: one writer per path, counting all processes; any number of readers.
/// Failure: the old file is untouched and the temporary file removed. Only if the last step, syncing the
/// directory, fails, the new file is visible and may not survive a power cut.
Status write_file_atomically(FileSystem& fs, const std::string& path, std::span<const std::byte> bytes);

/// A function that appends the content of a file. It neither syncs nor closes.
using WriteContent = std::function<Status(WritableFile&)>;
/// The same for content that is written in pieces. An error of `content` is returned and leaves the old file
/// untouched.
Status write_file_atomically(FileSystem& fs, const std::string& path, const WriteContent& content);

namespace storage {

/// The temporary file that write_file_atomically() writes and then renames to `path`.
std::string temporary_of(const std::string& path);

}  // namespace storage
}  // namespace cohort

#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cohort {

enum class FileKind { kFile, kDirectory };

struct FileInfo {
  FileKind kind = FileKind::kFile;
  std::uint64_t size_bytes = 0;  ///< 0 for a directory
};

/// A file that is open for reading. It stays readable after its name was removed or given to another file.
///
/// Threads: every method from any thread, concurrently.
/// Lifetime: must not outlive its FileSystem; the destructor closes the file.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  /// The size that the file system reports. Files of /proc and /sys report 0 although they hold bytes.
  virtual Result<std::uint64_t> size_bytes() = 0;
  /// Reads from `offset` into `into` and returns the number of bytes read. The number is smaller than `into`
  /// only at the end of the file, and 0 beyond the end.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) = 0;
};

/// A file that is open for appending.
///
/// Threads: one at a time.
/// Lifetime: must not outlive its FileSystem; the destructor closes without sync() and ignores errors.
/// Failure: a failed append() may have added any prefix of the bytes. A failed sync() may have lost all bytes
/// since the last successful sync: write the file again from the beginning. append() and sync() after close()
/// throw BugError.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  /// Adds all of `bytes` to the end of the file.
  virtual Status append(std::span<const std::byte> bytes) = 0;
  /// A hint: the disk may begin with what was appended, so that the next sync() is shorter. Promises nothing
  /// and waits for nothing.
  virtual void start_syncing() {}
  /// On success the content survives a power cut. The name of a new file survives only after
  /// sync_directory().
  virtual Status sync() = 0;
  /// Closes the file. A second call does nothing.
  virtual Status close() = 0;
};

/// A tree of files and directories. LocalFileSystem is the one of this machine; tests pass trees in memory
/// that lose power or fail on purpose.
///
/// Paths are '/'-separated, absolute or relative; symbolic links are followed.
///
/// Threads: every method from any thread.
/// Lifetime: must outlive the files it opens, which the caller owns.
/// Failure: kNotFound if the path or a directory above it is missing; kPermission, kDiskFull, kExhausted as
/// their names say; kIo for everything else, such as a directory where a file is needed. A call that fails
/// has changed nothing unless its comment says otherwise.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<ReadableFile>> open_read(const std::string& path) = 0;
  /// Creates an empty file, or truncates an existing file. The directory must exist.
  virtual Result<std::unique_ptr<WritableFile>> create(const std::string& path) = 0;
  /// Creates an empty file. kAlreadyExists if the name is taken, be it by a dangling symbolic link.
  virtual Result<std::unique_ptr<WritableFile>> create_new(const std::string& path) = 0;
  /// Opens an existing file at its end, or creates an empty file.
  virtual Result<std::unique_ptr<WritableFile>> open_append(const std::string& path) = 0;

  /// Kind and size. kNotFound if the path does not exist.
  virtual Result<FileInfo> info(const std::string& path) = 0;
  /// Whether the path exists. An error only if that cannot be determined.
  virtual Result<bool> exists(const std::string& path) = 0;
  /// The names in a directory, without the path, sorted by their bytes.
  virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;

  /// Creates a directory and the missing directories above it. kAlreadyExists if a component is a file. A
  /// call that fails may have created some of the upper directories.
  virtual Status make_directories(const std::string& directory) = 0;
  /// Renames a file or directory. A file or an empty directory with the new name is replaced atomically: a
  /// reader finds the old or the new content under that name. A file never replaces a directory, nor the
  /// reverse.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  /// Removes a file or an empty directory. kIo if the directory is not empty.
  virtual Status remove(const std::string& path) = 0;
  /// On success all names created, renamed or removed in this directory survive a power cut.
  virtual Status sync_directory(const std::string& directory) = 0;

  /// Success if this process may create names in a directory, which must exist. Creates nothing. kPermission
  /// if the permissions are against it.
  virtual Status check_writable(const std::string& directory) = 0;
};

}  // namespace cohort

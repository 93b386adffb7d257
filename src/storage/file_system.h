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

/// A file open for reading; it stays readable when its name is replaced or removed.
///
/// Threads: every method from any thread, at the same time.
/// Lifetime: must not outlive its file system; the destructor closes.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  /// As the file system tells it: some files of the operating system hold bytes and say 0.
  virtual Result<std::uint64_t> size_bytes() = 0;
  /// Fills `into` from `offset` on and returns how many bytes there were: fewer than asked for only at the
  /// end of the file, none beyond it.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) = 0;
};

/// A file open for writing at its end.
///
/// Threads: one at a time.
/// Lifetime: must not outlive its file system; the destructor closes silently and syncs nothing.
/// Failure: after a failed append() any prefix of its bytes may have been added. After a failed sync()
/// nothing since the last good one is certain: write the file anew. After close(), append() and sync() are
/// bugs.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  /// Adds all of `bytes` to the end of the file.
  virtual Status append(std::span<const std::byte> bytes) = 0;
  /// On success the content survives a power cut; the file's name does only after sync_directory().
  virtual Status sync() = 0;
  /// Releases the file. A second call does nothing.
  virtual Status close() = 0;
};

/// A tree of files and directories: of this machine, of memory, or another that holds to these rules.
///
/// Paths are '/'-separated, absolute or relative; symbolic links are followed.
///
/// Threads: every method from any thread.
/// Lifetime: must outlive the files it opens; the caller owns those.
/// Failure: kNotFound if a path or a directory on the way to it is absent; kIo if a directory stands where a
/// file is needed, or a file where a directory is; kPermission, kDiskFull, kExhausted as their names say; kIo
/// for everything else. A call that fails has changed nothing, unless it says otherwise.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<ReadableFile>> open_read(const std::string& path) = 0;
  /// A new empty file; one that exists is emptied. The directory must exist.
  virtual Result<std::unique_ptr<WritableFile>> create(const std::string& path) = 0;
  /// A new empty file where nothing was, not even a link. kAlreadyExists otherwise.
  virtual Result<std::unique_ptr<WritableFile>> create_new(const std::string& path) = 0;
  /// The file with its content, or a new one.
  virtual Result<std::unique_ptr<WritableFile>> open_append(const std::string& path) = 0;

  /// kNotFound if nothing is there.
  virtual Result<FileInfo> info(const std::string& path) = 0;
  /// Whether a file or directory is there; an error only where that cannot be found out.
  virtual Result<bool> exists(const std::string& path) = 0;
  /// The names in a directory, without their path, in the order of their bytes.
  virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;

  /// Makes a directory and those above it; what is there already is fine. kAlreadyExists if a file is in the
  /// way. On failure some of the upper ones may have been made.
  virtual Status make_directories(const std::string& directory) = 0;
  /// Gives a file or directory a new name. A file or an empty directory that had that name is replaced: who
  /// looks meanwhile finds the old one or the new one. A file never replaces a directory, nor the reverse.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  /// Removes a file or an empty directory; kNotFound if there is none, kIo if the directory is not empty.
  virtual Status remove(const std::string& path) = 0;
  /// On success the names in this directory (what was created, renamed, removed) survive a power cut.
  virtual Status sync_directory(const std::string& directory) = 0;

  /// How much more an ordinary user can store where `path` is; `path` must exist.
  virtual Result<std::uint64_t> free_bytes(const std::string& path) = 0;
};

}  // namespace cohort

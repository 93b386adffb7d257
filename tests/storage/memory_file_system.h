#pragma once

#include "storage/file_system.h"

#include <optional>

namespace cohort {

/// A file system in memory that tracks which bytes and names a disk would hold after a power cut.
///
/// Relative paths start at the root, which always exists.
///
/// Threads: as FileSystem; one mutex.
/// Cost: with a capacity, every append walks the whole tree.
class MemoryFileSystem final : public FileSystem {
 public:
  /// A disk of `capacity_bytes`, or without limit. An append beyond the capacity adds the bytes that fit and
  /// fails with kDiskFull.
  explicit MemoryFileSystem(std::optional<std::uint64_t> capacity_bytes = std::nullopt);
  ~MemoryFileSystem() override;

  /// Power cut: every name goes back to the last sync_directory() of its directory, every content to the last
  /// sync() of the file. With a seed, a random part of the unsynced data has reached the disk: a prefix of
  /// the bytes that were appended since the last sync, and perhaps the truncation by create(). Close open
  /// files first.
  void lose_unsynced(std::optional<std::uint64_t> tear_seed = std::nullopt);

  Result<std::unique_ptr<ReadableFile>> open_read(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create_new(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> open_append(const std::string& path) override;
  Result<FileInfo> info(const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  Status make_directories(const std::string& directory) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status sync_directory(const std::string& directory) override;
  Status check_writable(const std::string& directory) override;

  /// The part of the capacity that no file takes.
  std::uint64_t free_bytes() const;

  /// The tree and its mutex, shared with open files.
  struct Disk;

 private:
  std::unique_ptr<Disk> disk_;
};

}  // namespace cohort

#pragma once

#include "storage/file_system.h"

#include <optional>

namespace cohort {

/// Files in memory that know what a disk would have of them: for tests, and for what needs no disk.
///
/// Relative paths start at the root, which always exists.
///
/// Threads: as FileSystem; one mutex.
/// Cost: with a capacity, every append walks the whole tree.
class MemoryFileSystem final : public FileSystem {
 public:
  /// A disk of `capacity_bytes`, or one that never fills. An append that meets its end adds what fits and
  /// fails with kDiskFull.
  explicit MemoryFileSystem(std::optional<std::uint64_t> capacity_bytes = std::nullopt);
  ~MemoryFileSystem() override;

  /// Goes back to what a disk would hold after a power cut: names as they were at the last sync_directory()
  /// of their directory, contents as at the last sync() of the file. With a seed, a random part of what was
  /// not synced has reached the disk: a prefix of what each file got since its last sync, and perhaps its
  /// emptying by create(). Files that are open stay open; close them first.
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
  Result<std::uint64_t> free_bytes(const std::string& path) override;

  /// The tree and its mutex, shared with the open files.
  struct Disk;

 private:
  std::unique_ptr<Disk> disk_;
};

}  // namespace cohort

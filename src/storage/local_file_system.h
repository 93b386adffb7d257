#pragma once

#include "storage/file_system.h"

namespace cohort {

/// The files of this machine, and of what is mounted on it.
class LocalFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<ReadableFile>> open_read(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create_new(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> open_append(const std::string& path) override;
  /// Whatever is not a directory counts as a file.
  Result<FileInfo> info(const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  Status make_directories(const std::string& directory) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status sync_directory(const std::string& directory) override;
  Result<std::uint64_t> free_bytes(const std::string& path) override;
};

}  // namespace cohort

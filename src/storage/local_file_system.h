#pragma once

#include "storage/file_system.h"

namespace cohort {

/// The files of this machine, mounted file systems included.
class LocalFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<ReadableFile>> open_read(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create_new(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> open_append(const std::string& path) override;
  /// Everything that is not a directory counts as a file: pipes and devices, too.
  Result<FileInfo> info(const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& directory) override;
  Status make_directories(const std::string& directory) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status sync_directory(const std::string& directory) override;
  Status check_writable(const std::string& directory) override;
};

namespace storage {

enum class WriteStart { kNew, kEmpty, kAtEnd };

/// Opens an existing file of this machine.
Result<std::unique_ptr<ReadableFile>> open_local_to_read(const std::string& path);
/// Opens or creates a file of this machine.
Result<std::unique_ptr<WritableFile>> open_local_to_write(const std::string& path, WriteStart start);

}  // namespace storage
}  // namespace cohort

#pragma once

#include "storage/file_system.h"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace cohort::test {

/// Remembers the calls that change a file system or look at single files, in their order.
///
/// Threads: as FileSystem.
/// Lifetime: the file system that does the work must outlive it.
class RecordingFileSystem final : public FileSystem {
 public:
  explicit RecordingFileSystem(FileSystem& inner) : inner_(inner) {}

  /// The calls since the last take().
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

  Result<std::unique_ptr<ReadableFile>> open_read(const std::string& path) override {
    return inner_.open_read(path);
  }
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    note("create " + path);
    COHORT_ASSIGN_OR_RETURN(auto file, inner_.create(path));
    return std::make_unique<Writer>(*this, std::move(file), path);
  }
  Result<std::unique_ptr<WritableFile>> create_new(const std::string& path) override {
    return inner_.create_new(path);
  }
  Result<std::unique_ptr<WritableFile>> open_append(const std::string& path) override {
    return inner_.open_append(path);
  }
  Result<FileInfo> info(const std::string& path) override {
    note("info " + path);
    return inner_.info(path);
  }
  Result<bool> exists(const std::string& path) override { return inner_.exists(path); }
  Result<std::vector<std::string>> list(const std::string& directory) override {
    return inner_.list(directory);
  }
  Status make_directories(const std::string& directory) override {
    return inner_.make_directories(directory);
  }
  Status rename(const std::string& from, const std::string& to) override {
    note("rename " + from + " " + to);
    return inner_.rename(from, to);
  }
  Status remove(const std::string& path) override {
    note("remove " + path);
    return inner_.remove(path);
  }
  Status sync_directory(const std::string& directory) override {
    note("sync folder " + directory);
    return inner_.sync_directory(directory);
  }
  Status check_writable(const std::string& directory) override { return inner_.check_writable(directory); }

 private:
  class Writer final : public WritableFile {
   public:
    Writer(RecordingFileSystem& record, std::unique_ptr<WritableFile> file, std::string path)
        : record_(record), file_(std::move(file)), path_(std::move(path)) {}
    Status append(std::span<const std::byte> bytes) override { return file_->append(bytes); }
    Status sync() override {
      record_.note("sync " + path_);
      return file_->sync();
    }
    Status close() override { return file_->close(); }

   private:
    RecordingFileSystem& record_;
    const std::unique_ptr<WritableFile> file_;
    const std::string path_;
  };

  void note(std::string call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }

  FileSystem& inner_;
  std::mutex mutex_;
  std::vector<std::string> calls_;
};

}  // namespace cohort::test

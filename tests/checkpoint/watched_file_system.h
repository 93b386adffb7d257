#pragma once

#include "storage/file_system.h"

#include <atomic>
#include <functional>
#include <utility>

namespace cohort::test {

/// Another file system, which counts the bytes that are read and calls a function before each append, and
/// before a file is opened to be read.
///
/// Threads: as FileSystem.
class WatchedFileSystem final : public FileSystem {
 public:
  /// An error of `before_append` fails the append.
  using BeforeAppend = std::function<Status(const std::string& path)>;
  using BeforeOpen = std::function<void(const std::string& path)>;
  explicit WatchedFileSystem(FileSystem& inner, BeforeAppend before_append = {}, BeforeOpen before_open = {})
      : inner_(inner), before_append_(std::move(before_append)), before_open_(std::move(before_open)) {}

  std::uint64_t take_bytes_read() { return bytes_read_.exchange(0); }

  Result<std::unique_ptr<ReadableFile>> open_read(const std::string& path) override {
    if (before_open_) before_open_(path);
    COHORT_ASSIGN_OR_RETURN(auto file, inner_.open_read(path));
    return std::make_unique<Reader>(*this, std::move(file));
  }
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    return watched(path, inner_.create(path));
  }
  Result<std::unique_ptr<WritableFile>> create_new(const std::string& path) override {
    return watched(path, inner_.create_new(path));
  }
  Result<std::unique_ptr<WritableFile>> open_append(const std::string& path) override {
    return watched(path, inner_.open_append(path));
  }
  Result<FileInfo> info(const std::string& path) override { return inner_.info(path); }
  Result<bool> exists(const std::string& path) override { return inner_.exists(path); }
  Result<std::vector<std::string>> list(const std::string& directory) override {
    return inner_.list(directory);
  }
  Status make_directories(const std::string& directory) override {
    return inner_.make_directories(directory);
  }
  Status rename(const std::string& from, const std::string& to) override { return inner_.rename(from, to); }
  Status remove(const std::string& path) override { return inner_.remove(path); }
  Status sync_directory(const std::string& directory) override { return inner_.sync_directory(directory); }
  Status check_writable(const std::string& directory) override { return inner_.check_writable(directory); }

 private:
  class Reader final : public ReadableFile {
   public:
    Reader(WatchedFileSystem& files, std::unique_ptr<ReadableFile> inner)
        : files_(files), inner_(std::move(inner)) {}
    Result<std::uint64_t> size_bytes() override { return inner_->size_bytes(); }
    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
      auto count = inner_->read_at(offset, into);
      if (count) files_.bytes_read_ += *count;
      return count;
    }

   private:
    WatchedFileSystem& files_;
    const std::unique_ptr<ReadableFile> inner_;
  };

  class Writer final : public WritableFile {
   public:
    Writer(WatchedFileSystem& files, std::string path, std::unique_ptr<WritableFile> inner)
        : files_(files), path_(std::move(path)), inner_(std::move(inner)) {}
    Status append(std::span<const std::byte> bytes) override {
      if (files_.before_append_) COHORT_RETURN_IF_ERROR(files_.before_append_(path_));
      return inner_->append(bytes);
    }
    Status sync() override { return inner_->sync(); }
    Status close() override { return inner_->close(); }

   private:
    WatchedFileSystem& files_;
    const std::string path_;
    const std::unique_ptr<WritableFile> inner_;
  };

  Result<std::unique_ptr<WritableFile>> watched(const std::string& path,
                                                Result<std::unique_ptr<WritableFile>> opened) {
    COHORT_ASSIGN_OR_RETURN(auto file, std::move(opened));
    return std::make_unique<Writer>(*this, path, std::move(file));
  }

  FileSystem& inner_;
  const BeforeAppend before_append_;
  const BeforeOpen before_open_;
  std::atomic<std::uint64_t> bytes_read_{0};
};

}  // namespace cohort::test

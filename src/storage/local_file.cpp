#include "base/check.h"
#include "base/descriptor.h"
#include "base/system_error.h"
#include "storage/local_file_system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

namespace cohort::storage {
namespace {

constexpr std::uint64_t kLastOffset = std::numeric_limits<off_t>::max();

class LocalReadableFile final : public ReadableFile {
 public:
  LocalReadableFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  Result<std::uint64_t> size_bytes() override {
    struct stat found {};
    if (::fstat(descriptor_.number(), &found) != 0) {
      return system_error(fmt::format("cannot get the size of '{}'", path_), errno);
    }
    return static_cast<std::uint64_t>(found.st_size);
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset > kLastOffset || into.size() > kLastOffset - offset) {
      return 0;  // beyond the largest offset of a file
    }
    std::size_t done = 0;
    while (done < into.size()) {
      const auto rest = into.subspan(done);
      const ssize_t count = uninterrupted([&] {
        return ::pread(descriptor_.number(), rest.data(), rest.size(), static_cast<off_t>(offset + done));
      });
      if (count < 0) return system_error(fmt::format("cannot read '{}'", path_), errno);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

 private:
  const std::string path_;
  const Descriptor descriptor_;
};

class LocalWritableFile final : public WritableFile {
 public:
  LocalWritableFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  Status append(std::span<const std::byte> bytes) override {
    COHORT_CHECK(descriptor_.is_open(), "append to '{}' after close", path_);
    while (!bytes.empty()) {
      const ssize_t count =
          uninterrupted([&] { return ::write(descriptor_.number(), bytes.data(), bytes.size()); });
      if (count <= 0) {
        return system_error(fmt::format("cannot write to '{}'", path_), count == 0 ? EIO : errno);
      }
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }

  // An error of the disk is reported by the next fsync(2), as that of any page which the kernel writes by
  // itself.
  void start_syncing() override {
    if (!descriptor_.is_open()) return;
    const off_t end = ::lseek(descriptor_.number(), 0, SEEK_CUR);
    if (end <= started_) return;
    (void)::sync_file_range(descriptor_.number(), started_, end - started_, SYNC_FILE_RANGE_WRITE);
    started_ = end;
  }

  Status sync() override {
    COHORT_CHECK(descriptor_.is_open(), "sync of '{}' after close", path_);
    if (uninterrupted([&] { return ::fsync(descriptor_.number()); }) != 0) {
      return system_error(fmt::format("cannot sync '{}'", path_), errno);
    }
    return {};
  }

  Status close() override {
    if (const auto error_number = descriptor_.close()) {
      return system_error(fmt::format("cannot close '{}'", path_), *error_number);
    }
    return {};
  }

 private:
  const std::string path_;
  Descriptor descriptor_;
  off_t started_ = 0;  // the disk has been told of the bytes before
};

bool is_directory(const Descriptor& descriptor) {
  struct stat found {};
  return ::fstat(descriptor.number(), &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace

Result<std::unique_ptr<ReadableFile>> open_local_to_read(const std::string& path) {
  const auto failure = [&](int error_number) {
    return system_error(fmt::format("cannot open '{}' for reading", path), error_number);
  };
  // O_NONBLOCK: opening a named pipe without a writer would block for ever. pread(2) from a pipe fails later,
  // with an error that says so.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  Descriptor descriptor(uninterrupted([&] { return ::open(path.c_str(), flags); }));
  if (!descriptor.is_open()) return failure(errno);
  if (is_directory(descriptor)) return failure(EISDIR);
  return std::make_unique<LocalReadableFile>(path, std::move(descriptor));
}

Result<std::unique_ptr<WritableFile>> open_local_to_write(const std::string& path, WriteStart start) {
  constexpr mode_t kAnybody = 0666;  // reduced by the umask of the process
  const int start_flag = start == WriteStart::kNew ? O_EXCL : start == WriteStart::kEmpty ? O_TRUNC : 0;
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | start_flag;
  Descriptor descriptor(uninterrupted([&] { return ::open(path.c_str(), flags, kAnybody); }));
  if (!descriptor.is_open()) return system_error(fmt::format("cannot open '{}' for writing", path), errno);
  return std::make_unique<LocalWritableFile>(path, std::move(descriptor));
}

}  // namespace cohort::storage

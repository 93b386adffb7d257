#include "storage/local_file_system.h"

#include "base/descriptor.h"
#include "base/system_error.h"

#include <algorithm>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace cohort {
namespace {

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

bool is_directory(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace

Result<std::unique_ptr<ReadableFile>> LocalFileSystem::open_read(const std::string& path) {
  return storage::open_local_to_read(path);
}

Result<std::unique_ptr<WritableFile>> LocalFileSystem::create(const std::string& path) {
  return storage::open_local_to_write(path, storage::WriteStart::kEmpty);
}

Result<std::unique_ptr<WritableFile>> LocalFileSystem::create_new(const std::string& path) {
  return storage::open_local_to_write(path, storage::WriteStart::kNew);
}

Result<std::unique_ptr<WritableFile>> LocalFileSystem::open_append(const std::string& path) {
  return storage::open_local_to_write(path, storage::WriteStart::kAtEnd);
}

Result<FileInfo> LocalFileSystem::info(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    return system_error(fmt::format("cannot get the status of '{}'", path), errno);
  }
  if (S_ISDIR(found.st_mode)) return FileInfo{FileKind::kDirectory, 0};
  return FileInfo{FileKind::kFile, static_cast<std::uint64_t>(found.st_size)};
}

Result<bool> LocalFileSystem::exists(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return system_error(fmt::format("cannot get the status of '{}'", path), errno);
}

Result<std::vector<std::string>> LocalFileSystem::list(const std::string& directory) {
  const auto failure = [&](int error_number) {
    return system_error(fmt::format("cannot list '{}'", directory), error_number);
  };
  const std::unique_ptr<DIR, DirectoryCloser> open(::opendir(directory.c_str()));
  if (!open) return failure(errno);
  std::vector<std::string> names;
  errno = 0;  // readdir(3) returns null at the end and on failure: errno tells them apart
  while (const dirent* entry =
             ::readdir(open.get())) {  // NOLINT(concurrency-mt-unsafe): no other thread has this stream
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return failure(errno);
  std::sort(names.begin(), names.end());
  return names;
}

Status LocalFileSystem::make_directories(const std::string& directory) {
  constexpr mode_t kAnybody = 0777;  // reduced by the umask of the process
  std::size_t end = 0;
  do {
    end = directory.find('/', end + 1);
    const std::string part = directory.substr(0, end);
    if (::mkdir(part.c_str(), kAnybody) == 0) continue;
    const int error_number = errno;
    if (!is_directory(part)) {
      return system_error(fmt::format("cannot make directory '{}'", part), error_number);
    }
  } while (end != std::string::npos);
  return {};
}

Status LocalFileSystem::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return system_error(fmt::format("cannot rename '{}' to '{}'", from, to), errno);
  }
  return {};
}

Status LocalFileSystem::remove(const std::string& path) {
  if (std::remove(path.c_str()) != 0) return system_error(fmt::format("cannot remove '{}'", path), errno);
  return {};
}

Status LocalFileSystem::sync_directory(const std::string& directory) {
  const auto failure = [&](int error_number) {
    return system_error(fmt::format("cannot sync directory '{}'", directory), error_number);
  };
  const Descriptor open(
      uninterrupted([&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!open.is_open()) return failure(errno);
  if (uninterrupted([&] { return ::fsync(open.number()); }) != 0) return failure(errno);
  return {};
}

Status LocalFileSystem::check_writable(const std::string& directory) {
  const auto failure = [&](int error_number) {
    return system_error(fmt::format("cannot write to directory '{}'", directory), error_number);
  };
  const auto may = [&](int how) { return ::faccessat(AT_FDCWD, directory.c_str(), how, AT_EACCESS) == 0; };
  if (!may(F_OK)) return failure(errno);
  if (!is_directory(directory)) return failure(ENOTDIR);
  if (!may(W_OK | X_OK)) return failure(errno);
  return {};
}

}  // namespace cohort

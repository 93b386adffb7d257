#include "state/run_directory.h"

#include "storage/path.h"
#include "storage/whole_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace cohort {
namespace {

constexpr std::string_view kEarlier = "earlier-";

// 3 for `earlier-3`; nothing for a name of another form.
std::optional<std::uint64_t> number_of_earlier(std::string_view name) {
  if (!name.starts_with(kEarlier)) return std::nullopt;
  name.remove_prefix(kEarlier.size());
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (failure != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

Status remove_if_there(FileSystem& files, const std::string& path) {
  const Status removed = files.remove(path);
  if (!removed && removed.error().code() != ErrorCode::kNotFound) return removed;
  return {};
}

Status put_aside(FileSystem& files, const std::string& directory, std::span<const std::string_view> results) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.list(directory));
  std::uint64_t number = 1;
  for (const std::string& name : names) number = std::max(number, number_of_earlier(name).value_or(0) + 1);
  const std::string aside = storage::joined(directory, fmt::format("{}{}", kEarlier, number));
  for (const std::string_view name : results) {
    if (!std::binary_search(names.begin(), names.end(), name)) continue;
    COHORT_RETURN_IF_ERROR(files.make_directories(aside));
    COHORT_RETURN_IF_ERROR(files.rename(storage::joined(directory, name), storage::joined(aside, name)));
  }
  return {};
}

Status check_writing(FileSystem& files, const std::string& directory) {
  const std::string path = storage::joined(directory, ".write-check.tmp");
  const auto write = [&]() -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto file, files.create(path));
    const std::array<std::byte, 1> byte{};
    COHORT_RETURN_IF_ERROR(file->append(byte));
    COHORT_RETURN_IF_ERROR(file->sync());
    return file->close();
  };
  const Status written = write();
  const Status removed = remove_if_there(files, path);
  return written ? removed : written;
}

// The path itself, or the nearest path above it that exists.
Result<std::string> nearest_existing(FileSystem& files, std::string path) {
  while (true) {
    COHORT_ASSIGN_OR_RETURN(const bool exists, files.exists(path));
    const std::string above = storage::directory_of(path);
    if (exists || above == path) return path;
    path = above;
  }
}

Status check_no_file(FileSystem& files, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const FileInfo found, files.info(path));
  if (found.kind == FileKind::kDirectory) return {};
  return Error(ErrorCode::kAlreadyExists, fmt::format("'{}' is a file, expected a folder", path))
      .with_remedy("Move the file away, or choose another folder.");
}

std::string unusable(const std::string& directory) {
  return fmt::format("the run directory '{}' cannot be used", directory);
}

}  // namespace

Status check_run_directory(FileSystem& files, const std::string& directory) {
  const auto check = [&]() -> Status {
    COHORT_ASSIGN_OR_RETURN(const std::string nearest, nearest_existing(files, directory));
    COHORT_RETURN_IF_ERROR(check_no_file(files, nearest));
    return files.check_writable(nearest);
  };
  return check().within(unusable(directory));
}

Status prepare_run_directory(FileSystem& files, const std::string& directory,
                             std::span<const std::string_view> results) {
  const auto prepare = [&]() -> Status {
    COHORT_RETURN_IF_ERROR(files.make_directories(directory));
    for (const std::string_view name : results) {
      COHORT_RETURN_IF_ERROR(remove_if_there(files, storage::temporary_of(storage::joined(directory, name))));
    }
    COHORT_RETURN_IF_ERROR(put_aside(files, directory, results));
    return check_writing(files, directory);
  };
  return prepare().within(unusable(directory));
}

}  // namespace cohort

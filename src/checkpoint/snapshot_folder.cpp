#include "checkpoint/snapshot_folder.h"

#include "checkpoint/weight_index.h"
#include "storage/path.h"
#include "storage/whole_file.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace cohort::checkpoint {
namespace {

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kWriting = ".writing-";
constexpr std::string_view kRemoving = ".removing-";
constexpr std::string_view kSetAside = "set-aside-";

// A folder with files, but without folders.
Status remove_folder(FileSystem& files, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const auto names, files.list(path));
  for (const std::string& name : names) COHORT_RETURN_IF_ERROR(files.remove(storage::joined(path, name)));
  return files.remove(path);
}

Status write_synced(FileSystem& files, const std::string& path, std::string_view text) {
  COHORT_ASSIGN_OR_RETURN(const auto file, files.create(path));
  COHORT_RETURN_IF_ERROR(file->append(std::as_bytes(std::span(text))));
  COHORT_RETURN_IF_ERROR(file->sync());
  return file->close();
}

Status check_shards(FileSystem& files, const std::string& path, const Manifest& manifest) {
  for (const Shard& shard : manifest.shards) {
    const auto found = files.info(storage::joined(path, shard.file));
    if (!found && found.error().code() == ErrorCode::kNotFound) {
      return found.error().with_remedy(
          "All ranks must write to the same folder: set the folder of the checkpoints to storage that all "
          "hosts "
          "share.");
    }
    COHORT_RETURN_IF_ERROR(found);
    if (found->size_bytes == shard.size_bytes) continue;
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' has {} bytes, expected {}", shard.file,
                                                  found->size_bytes, shard.size_bytes));
  }
  return {};
}

// Makes a folder whose name survives a power cut, and the missing folders above it. A folder that was there
// may lie in one that this user may not open.
Status make_synced(FileSystem& files, const std::string& folder) {
  const std::string above = storage::directory_of(folder);
  COHORT_ASSIGN_OR_RETURN(const bool was_there, files.exists(folder));
  COHORT_ASSIGN_OR_RETURN(const bool has_above, files.exists(above));
  if (!has_above) COHORT_RETURN_IF_ERROR(make_synced(files, above));
  COHORT_RETURN_IF_ERROR(files.make_directories(folder));
  const Status synced = files.sync_directory(above);
  return was_there && !synced && synced.error().code() == ErrorCode::kPermission ? Status() : synced;
}

Status check_kind(const std::string& path, const FileInfo& found, FileKind expected) {
  if (found.kind == expected) return {};
  const bool is_file = found.kind == FileKind::kFile;
  return Error(ErrorCode::kCorrupt, fmt::format("'{}' is a {}, expected a {}", path,
                                                is_file ? "file" : "folder", is_file ? "folder" : "file"));
}

// The length of a text that can be a manifest is limited by read_file().
Status check_manifest_file(FileSystem& files, const std::string& path, const std::string& file) {
  COHORT_ASSIGN_OR_RETURN(const FileInfo folder, files.info(path));
  COHORT_RETURN_IF_ERROR(check_kind(path, folder, FileKind::kDirectory));
  COHORT_ASSIGN_OR_RETURN(const FileInfo found, files.info(file));
  COHORT_RETURN_IF_ERROR(check_kind(file, found, FileKind::kFile));
  if (found.size_bytes <= kReadFileMaxBytes) return {};
  return Error(ErrorCode::kCorrupt,
               fmt::format("it has {} bytes, expected at most {}", found.size_bytes, kReadFileMaxBytes));
}

std::optional<std::uint64_t> number_after(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (failure != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string snapshot_name(std::int64_t step) {
  return fmt::format("{}{:012}", kPrefix, step);
}

std::optional<std::int64_t> step_of(std::string_view name) {
  const auto number = number_after(kPrefix, name);
  if (!number || *number >> 62 != 0) return std::nullopt;
  const auto step = static_cast<std::int64_t>(*number);
  return snapshot_name(step) == name ? std::optional(step) : std::nullopt;
}

std::string writing_folder(const std::string& folder, std::string_view name) {
  return storage::joined(folder, fmt::format("{}{}", kWriting, name));
}

Result<std::vector<std::string>> list_snapshots(FileSystem& files, const std::string& folder) {
  auto names = files.list(folder);
  if (!names && names.error().code() == ErrorCode::kNotFound) return std::vector<std::string>();
  if (!names) {
    return std::move(names).error().within(fmt::format("cannot list the snapshots in '{}'", folder));
  }
  std::erase_if(*names, [](const std::string& name) { return !step_of(name); });
  std::sort(names->begin(), names->end(),
            [](const std::string& a, const std::string& b) { return *step_of(a) < *step_of(b); });
  return names;
}

Result<Manifest> read_manifest(FileSystem& files, const std::string& path) {
  const std::string file = storage::joined(path, kManifestFile);
  const auto read = [&]() -> Result<Manifest> {
    COHORT_RETURN_IF_ERROR(check_manifest_file(files, path, file));
    COHORT_ASSIGN_OR_RETURN(const std::string text, read_file(files, file));
    return decode_manifest(text);
  };
  return read().within(fmt::format("cannot read the manifest '{}'", file));
}

Status prepare_folder(FileSystem& files, const std::string& folder) {
  const auto prepare = [&]() -> Status {
    COHORT_RETURN_IF_ERROR(make_synced(files, folder));
    COHORT_ASSIGN_OR_RETURN(const auto names, files.list(folder));
    for (const std::string& name : names) {
      if (!name.starts_with(kWriting) && !name.starts_with(kRemoving)) continue;
      COHORT_RETURN_IF_ERROR(remove_folder(files, storage::joined(folder, name)));
    }
    return files.check_writable(folder);
  };
  return prepare().within(fmt::format("the folder '{}' cannot be used for checkpoints", folder));
}

Status commit_snapshot(FileSystem& files, const std::string& folder, const std::string& name,
                       const Manifest& manifest) {
  const std::string writing = writing_folder(folder, name);
  const auto commit = [&]() -> Status {
    COHORT_RETURN_IF_ERROR(check_shards(files, writing, manifest));
    const std::string index = weight_index(manifest);
    if (!index.empty()) {
      COHORT_RETURN_IF_ERROR(write_synced(files, storage::joined(writing, kIndexFile), index));
    }
    COHORT_RETURN_IF_ERROR(write_synced(files, storage::joined(writing, kManifestFile), encode(manifest)));
    COHORT_RETURN_IF_ERROR(files.sync_directory(writing));
    COHORT_RETURN_IF_ERROR(files.rename(writing, storage::joined(folder, name)));
    return files.sync_directory(folder);
  };
  return commit().within(fmt::format("cannot complete the snapshot '{}'", storage::joined(folder, name)));
}

Status remove_snapshot(FileSystem& files, const std::string& folder, const std::string& name) {
  const std::string removing = storage::joined(folder, fmt::format("{}{}", kRemoving, name));
  const auto remove = [&]() -> Status {
    COHORT_RETURN_IF_ERROR(files.rename(storage::joined(folder, name), removing));
    COHORT_RETURN_IF_ERROR(files.sync_directory(folder));
    return remove_folder(files, removing);
  };
  return remove().within(fmt::format("cannot remove the snapshot '{}'", storage::joined(folder, name)));
}

Status remove_unfinished(FileSystem& files, const std::string& folder, std::string_view name) {
  const Status removed = remove_folder(files, writing_folder(folder, name));
  return !removed && removed.error().code() == ErrorCode::kNotFound ? Status() : removed;
}

Status set_aside(FileSystem& files, const std::string& folder, std::span<const std::string> names) {
  if (names.empty()) return {};
  const auto move = [&]() -> Status {
    COHORT_ASSIGN_OR_RETURN(const auto present, files.list(folder));
    std::uint64_t number = 1;
    for (const std::string& name : present) {
      number = std::max(number, number_after(kSetAside, name).value_or(0) + 1);
    }
    const std::string aside = storage::joined(folder, fmt::format("{}{}", kSetAside, number));
    COHORT_RETURN_IF_ERROR(files.make_directories(aside));
    for (const std::string& name : names) {
      COHORT_RETURN_IF_ERROR(files.rename(storage::joined(folder, name), storage::joined(aside, name)));
    }
    COHORT_RETURN_IF_ERROR(files.sync_directory(aside));
    return files.sync_directory(folder);
  };
  return move().within(fmt::format("cannot set snapshots in '{}' aside", folder));
}

}  // namespace cohort::checkpoint

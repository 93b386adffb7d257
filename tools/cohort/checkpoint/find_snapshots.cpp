#include "checkpoint/find_snapshots.h"

#include "base/nearest.h"
#include "checkpoint/snapshot_folder.h"
#include "storage/path.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

constexpr const char* kFolderOfRun = "checkpoints";
constexpr const char* kPathRemedy =
    "Name the folder of a run, a folder of snapshots, or a snapshot such as runs/digits/500.";

// Without slashes at the end; `.` and `..` as the folders that they are, because a snapshot has a name.
std::string plain_path(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::string last = storage::name_of(path);
  std::error_code failure;
  if (last != "." && last != "..") return path;
  const std::string canonical = std::filesystem::canonical(path, failure).string();
  return failure ? path : canonical;
}

bool is_folder(FileSystem& files, const std::string& path) {
  const auto found = files.info(path);
  return found && found->kind == FileKind::kDirectory;
}

bool is_snapshot(FileSystem& files, const std::string& path) {
  if (!is_folder(files, path)) return false;
  return checkpoint::step_of(storage::name_of(path)) ||
         files.exists(storage::joined(path, checkpoint::kManifestFile)).value_or(false);
}

// The snapshots of a folder, or of the run that has the folder; no names if there are none.
Result<FoundSnapshots> in_folder(FileSystem& files, const std::string& path) {
  for (const std::string& folder : {path, storage::joined(path, kFolderOfRun)}) {
    if (!is_folder(files, folder)) continue;
    COHORT_ASSIGN_OR_RETURN(auto names, checkpoint::list_snapshots(files, folder));
    if (!names.empty()) return FoundSnapshots{.folder = folder, .names = std::move(names)};
  }
  return FoundSnapshots{};
}

std::string name_meant(const std::string& text) {
  std::int64_t step = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), step);
  const bool is_step = failure == std::errc{} && end == text.data() + text.size() && step >= 0;
  return is_step ? checkpoint::snapshot_name(step) : text;
}

// A path to nothing whose last part means one of the snapshots in the folder above.
Result<FoundSnapshots> by_name(FileSystem& files, const std::string& path) {
  const std::string above = storage::directory_of(path);
  COHORT_ASSIGN_OR_RETURN(FoundSnapshots found, in_folder(files, above));
  if (found.names.empty()) {
    return Error(ErrorCode::kUsage, fmt::format("'{}' does not exist", path)).with_remedy(kPathRemedy);
  }
  const std::string name = name_meant(storage::name_of(path));
  if (std::find(found.names.begin(), found.names.end(), name) != found.names.end()) {
    return FoundSnapshots{.folder = found.folder, .names = {name}, .is_one = true};
  }
  const auto meant = nearest(name, found.names);
  return Error(ErrorCode::kUsage, fmt::format("there is no snapshot '{}' in '{}'", name, found.folder))
      .with_remedy(meant ? fmt::format("Did you mean '{}'?", *meant)
                         : fmt::format("`cohort checkpoint list {}` shows the snapshots.", above));
}

}  // namespace

Result<FoundSnapshots> find_snapshots(FileSystem& files, const std::string& given) {
  const std::string path = plain_path(given);
  if (is_snapshot(files, path)) {
    return FoundSnapshots{
        .folder = storage::directory_of(path), .names = {storage::name_of(path)}, .is_one = true};
  }
  if (!is_folder(files, path)) return by_name(files, path);
  COHORT_ASSIGN_OR_RETURN(FoundSnapshots found, in_folder(files, path));
  if (!found.names.empty()) return found;
  return Error(ErrorCode::kUsage, fmt::format("there are no snapshots in '{}'", path))
      .with_remedy(kPathRemedy);
}

Result<FoundSnapshot> find_snapshot(FileSystem& files, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const FoundSnapshots found, find_snapshots(files, path));
  return FoundSnapshot{.folder = found.folder, .name = found.names.back()};
}

}  // namespace cohort::tool

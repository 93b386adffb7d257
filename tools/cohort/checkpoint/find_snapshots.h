#pragma once

#include "storage/file_system.h"

#include <string>
#include <vector>

namespace cohort::tool {

/// Snapshots that a path of the user names.
struct FoundSnapshots {
  std::string folder{};              ///< the folder that they are in
  std::vector<std::string> names{};  ///< at least one, the oldest first
  bool is_one = false;               ///< the path names one of them, not the folder
};

/// Finds snapshots by a path, which is one of these:
///
///     runs/digits                                       the folder of a run
///     runs/digits/checkpoints                           a folder of snapshots
///     runs/digits/checkpoints/step-000000000500         one snapshot
///     runs/digits/500, runs/digits/checkpoints/500      the same, by its step
///
/// Failure: kUsage, naming the path.
Result<FoundSnapshots> find_snapshots(FileSystem& files, const std::string& path);

struct FoundSnapshot {
  std::string folder{};
  std::string name{};
};

/// As find_snapshots(), for one snapshot; the newest one if the path is a folder of several.
Result<FoundSnapshot> find_snapshot(FileSystem& files, const std::string& path);

}  // namespace cohort::tool

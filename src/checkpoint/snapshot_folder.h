#pragma once

#include "checkpoint/manifest.h"
#include "storage/file_system.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The snapshots of a run lie in one folder, each in a folder of its own:
//
//   step-000000000500/            a snapshot; it has its name only once it is complete
//   .writing-step-000000000600/   being written, or left by a writer that was killed
//   .removing-step-000000000400/  being removed
//   set-aside-1/                  snapshots of steps that a run took, and that another run did not follow

namespace cohort::checkpoint {

/// `step-000000000500`: names are in the order of steps.
std::string snapshot_name(std::int64_t step);
/// The step of a snapshot with this name; nothing for the name of something else.
std::optional<std::int64_t> step_of(std::string_view name);
/// The folder in which a snapshot is written.
std::string writing_folder(const std::string& folder, std::string_view name);

/// The names of the snapshots in a folder, the oldest first; none if the folder does not exist.
Result<std::vector<std::string>> list_snapshots(FileSystem& files, const std::string& folder);

/// The manifest of the snapshot at `path`.
///
/// Failure: kNotFound or kCorrupt, naming the file and the field.
Result<Manifest> read_manifest(FileSystem& files, const std::string& path);

/// Makes a folder ready: creates it, and removes the leftovers of writers that were killed.
///
/// Threads: one run at a time writes to a folder, counting all processes.
Status prepare_folder(FileSystem& files, const std::string& folder);

/// Gives a snapshot that was written to writing_folder() its name: writes manifest and index, and syncs
/// everything in the order in which a reader needs it.
///
/// Failure: as FileSystem; kNotFound if a shard is not there, as when hosts do not share the folder. The
/// snapshot then does not exist, unless syncing `folder` itself has failed: it may then be lost by a power
/// cut.
Status commit_snapshot(FileSystem& files, const std::string& folder, const std::string& name,
                       const Manifest& manifest);

/// Removes a snapshot. Readers never see a part of it: it loses its name first.
Status remove_snapshot(FileSystem& files, const std::string& folder, const std::string& name);
/// Removes what a failed write has left.
Status remove_unfinished(FileSystem& files, const std::string& folder, std::string_view name);

/// Moves snapshots into a new sub-folder `set-aside-N`, so that a run that goes on from an earlier step can
/// write its own.
Status set_aside(FileSystem& files, const std::string& folder, std::span<const std::string> names);

}  // namespace cohort::checkpoint

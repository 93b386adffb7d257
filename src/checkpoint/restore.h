#pragma once

#include "checkpoint/snapshot.h"
#include "comm/group/communicator.h"
#include "storage/file_system.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cohort::checkpoint {

/// The snapshot to restore.
struct RestoreOrder {
  std::string folder{};
  /// Its name. Not set: the newest one that is whole, and it is no error if there is none at all.
  std::optional<std::string> name{};
};

/// A snapshot whose state is in memory now.
struct Restored {
  std::string name{};
  Course course{};
  std::vector<Error> damaged{};      ///< why newer snapshots were not taken
  std::vector<std::string> newer{};  ///< their names, and those after the one that was asked for
};

/// The memory to fill, on this rank, for a snapshot that is about to be read. May change the layout of the
/// state by what the manifest says.
using Targets = std::function<Result<std::vector<Piece>>(const Manifest& manifest)>;

/// Fills the state of all ranks of a group from a snapshot, whatever the layout was in which it was written.
/// A damaged snapshot is passed over for an older one. All ranks call it together.
///
/// Failure: kNotFound or kCorrupt if no snapshot is whole, or if the one that was asked for is not; kUsage if pieces of the snapshot and of the state are not the
/// same; the error of `targets`. After a failure the state is unspecified.
/// Cost: each rank reads the elements that it holds; ranks that share memory share the reading.
Result<std::optional<Restored>> restore(Communicator& group, FileSystem& files, const RestoreOrder& order,
                                        const Targets& targets);

/// The same for a process that is alone.
Result<std::optional<Restored>> restore(FileSystem& files, const RestoreOrder& order, const Targets& targets);

}  // namespace cohort::checkpoint

#pragma once

#include "comm/group/communicator.h"

#include <memory>
#include <vector>

namespace cohort::copies {

/// The ranks that keep copies for each other, and their groups.
///
/// Lifetime: `near` keeps the memory of ranks of this host mapped that have ended, also after the generation
/// of the group.
struct Keepers {
  std::unique_ptr<Communicator> all{};
  std::shared_ptr<Communicator> near{};  ///< the ranks that share memory with this one; null: none does
  std::vector<int> near_ranks{};         ///< their ranks in `all`; this rank alone without `near`
  std::vector<int> hosts{};              ///< by rank; each rank has a host of its own if none share memory

  /// All ranks of the group call this together.
  static Result<Keepers> of(Communicator& group);
};

}  // namespace cohort::copies

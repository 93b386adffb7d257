#pragma once

#include "base/result.h"
#include "comm/communicator.h"
#include "comm/shared_memory/arena.h"
#include "launch/environment.h"
#include "net/meeting.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace cohort::world {

struct JoinOptions {
  std::chrono::nanoseconds limit = std::chrono::seconds(30);
  std::chrono::nanoseconds liveness = std::chrono::milliseconds(500);
  std::chrono::nanoseconds link_limit = std::chrono::seconds(5);
  std::chrono::nanoseconds meeting_limit = std::chrono::seconds(30);
  LinkSettings links{};  ///< what is set here wins over what the environment said
};

/// The group of all ranks, and what it stands on.
struct World {
  std::unique_ptr<net::Meeting>
      meeting{};  ///< where ranks of several hosts met; null on one host, and of MPI
  std::unique_ptr<Communicator> group;
  /// The group of those that are left after a loss; null where the engine does not go on without lost ranks.
  std::function<Result<std::unique_ptr<Communicator>>()> shrink{};
  std::string explanation{};  ///< of the choices that were made, where somebody asked for it
};

/// The group of all ranks, of which the launcher made this process one.
///
/// Lifetime: the arena must outlive the group.
/// Failure: kUsage if the launcher gave no place to meet, or, for several hosts, no key, or if the settings
/// do not fit the launcher; kTimedOut naming those that did not come.
Result<World> join(const LaunchFacts& facts, Arena& arena, const JoinOptions& options);

}  // namespace cohort::world

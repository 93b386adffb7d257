#pragma once

#include "base/result.h"
#include "comm/group/communicator.h"
#include "comm/shared_memory/arena.h"
#include "launch/environment.h"
#include "net/meeting.h"
#include "world/hosts_options.h"

#include <functional>
#include <memory>
#include <string>

namespace cohort::world {

/// The group of all ranks and the objects it depends on.
struct World {
  std::unique_ptr<net::Meeting> meeting{};  ///< of ranks on several hosts; null on one host and with MPI
  std::unique_ptr<Communicator> group;
  /// Forms the group of the survivors after a loss; null if the backend is not fault-tolerant.
  std::function<Result<std::unique_ptr<Communicator>>()> shrink{};
  std::string explanation{};  ///< of measurements and choices; empty unless LinkSettings::explain is set
};

/// Joins the group of all ranks that the launcher has started. Rank and number of ranks, encryption, network
/// interfaces and the cache of links come from `facts`; links that `options` set win over those of `facts`.
///
/// Lifetime: the arena must outlive the group.
/// Failure: kUsage if the launcher gave no rendezvous or, for several hosts, no key, or if the settings do
/// not fit the launcher; kTimedOut names the ranks that are missing.
Result<World> join(const LaunchFacts& facts, Arena& arena, const HostsOptions& options);

/// The group of all ranks over MPI, for ranks that an MPI launcher has started.
///
/// Failure: kUsage for any other launcher. If the MPI library is not fault-tolerant, a failure of the group
/// ends the job: the cause goes to standard error, and all ranks end with the exit code of the error. A call
/// cannot be given up otherwise: MPI would go on writing to its buffers.
/// Cost: see mpi::MpiCommunicator and mpi::own_library().
Result<World> join_by_mpi(const LaunchFacts& facts, const HostsOptions& options);

}  // namespace cohort::world

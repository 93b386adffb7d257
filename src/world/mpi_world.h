#pragma once

#include "world/join.h"

namespace cohort::world {

/// The group of all ranks as MPI makes it, for ranks that an MPI launcher has started.
///
/// Failure: kUsage where none has. Where MPI does not go on without lost ranks, a failure of the group ends
/// the job: the cause is written to standard error, and all ranks end with the exit code of the error. There
/// is no other way: MPI keeps writing to the memory of calls that were given up, and nobody can make it stop.
/// Cost: see mpi::MpiCommunicator and mpi::own_library().
Result<World> join_by_mpi(const LaunchFacts& facts, const JoinOptions& options);

}  // namespace cohort::world

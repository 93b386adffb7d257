#include "world/join.h"

#include "base/error_codes.h"
#include "launch/launching_mpi.h"
#include "mpi/communicator.h"
#include "mpi/library.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>

namespace cohort::world {
namespace {

using mpi::MpiCommunicator;

mpi::LibraryOptions library_options(const launch::LaunchingMpi& launching) {
  const bool is_mpich = launching.kind == launch::LaunchingMpi::Kind::kMpich;
  const auto implementation = is_mpich ? mpi::Implementation::kMpich : mpi::Implementation::kOpenMpi;
  return {.implementation = implementation,
          .shim_directory = mpi::own_shim_directory(implementation),
          .library = launching.library};
}

// With another libmpi than the launcher's, every process is rank 0 of 1.
Status compare(const mpi::Library& library, const LaunchFacts& facts) {
  if (library.rank() == facts.rank && library.size() == facts.world) return {};
  return Error(ErrorCode::kUsage,
               fmt::format("{} started this process as rank {} of {}, but {} reports rank {} of {}",
                           name(facts.launcher), facts.rank, facts.world, library.text(), library.rank(),
                           library.size()))
      .with_remedy(
          "Set COHORT_MPI_LIBRARY to the libmpi of that launcher; with srun, set --mpi to the process "
          "manager "
          "of your MPI.");
}

// A rank that was lost may have failed and be about to end with an exit code of its own, which says more than
// that of this rank. Time is the only means here: MPI_Abort ends every rank at once, and mpirun reports the
// code of the rank that ends first. So the lost rank gets this long.
constexpr std::chrono::seconds kLeaveLimit(2);

[[noreturn]] void end_job(const mpi::Library& library, const Error& error) {
  std::fputs(fmt::format("cohort: {}\n", error.text()).c_str(), stderr);
  std::fflush(stderr);
  if (error.code() == ErrorCode::kPeerLost) std::this_thread::sleep_for(kLeaveLimit);
  library.abort_job(exit_code_of(error.code()));
  std::_Exit(exit_code_of(error.code()));
}

// Each shrink() forms a new group from the last one.
World world_of(std::unique_ptr<MpiCommunicator> group, const mpi::Library& library) {
  World world;
  if (library.can_recover()) {
    world.shrink = [last = group.get()]() mutable -> Result<std::unique_ptr<Communicator>> {
      COHORT_ASSIGN_OR_RETURN(auto smaller, last->shrink());
      last = smaller.get();
      return std::unique_ptr<Communicator>(std::move(smaller));
    };
  }
  world.group = std::move(group);
  return world;
}

}  // namespace

Result<World> join_by_mpi(const LaunchFacts& facts, const HostsOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const launch::LaunchingMpi launching, launch::own_launching_mpi(facts.launcher));
  COHORT_ASSIGN_OR_RETURN(const auto library, mpi::own_library(library_options(launching)));
  COHORT_RETURN_IF_ERROR(compare(*library, facts));
  mpi::CommunicatorOptions wanted{.generation = static_cast<std::uint32_t>(facts.generation),
                                  .limit = options.limit};
  if (!library->can_recover()) {
    wanted.on_failure = [raw = library.get()](const Error& error) { end_job(*raw, error); };
  }
  COHORT_ASSIGN_OR_RETURN(auto group, MpiCommunicator::make_world(library, wanted));
  return world_of(std::move(group), *library);
}

}  // namespace cohort::world

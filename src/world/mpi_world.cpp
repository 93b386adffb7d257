#include "world/mpi_world.h"

#include "launch/mpi_place.h"
#include "mpi/communicator.h"
#include "mpi/own_library.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>

namespace cohort::world {
namespace {

using mpi::MpiCommunicator;

mpi::LibraryOptions library_options(const launch::MpiPlace& place) {
  const bool is_mpich = place.kind == launch::MpiPlace::Kind::kMpich;
  const auto implementation = is_mpich ? mpi::Implementation::kMpich : mpi::Implementation::kOpenMpi;
  return {.implementation = implementation,
          .shim_directory = mpi::own_shim_directory(implementation),
          .library = place.library};
}

// Another libmpi than that of the launcher makes every rank a world of its own.
Status compare(const mpi::Library& library, const LaunchFacts& facts) {
  if (library.rank() == facts.rank && library.world() == facts.world) return {};
  return Error(ErrorCode::kUsage,
               fmt::format("{} has started this process as rank {} of {}, and to {} it is rank {} of {}",
                           name(facts.launcher), facts.rank, facts.world, library.text(), library.rank(),
                           library.world()))
      .with_remedy(
          "Let COHORT_MPI_LIBRARY name the libmpi of that launcher; with srun, let --mpi name the process "
          "manager of your MPI.");
}

// As docs/reference/exit-codes.md has it.
int exit_code_of(const Error& error) {
  if (error.code() == ErrorCode::kUsage) return 2;
  return error.code() == ErrorCode::kBug ? 70 : 1;
}

// How long a rank that failed, and left, has to end with its own exit code, which the launcher then takes for
// that of the job.
constexpr std::chrono::seconds kLeaveLimit(2);

[[noreturn]] void end_job(const mpi::Library& library, const Error& error) {
  std::fputs(fmt::format("cohort: {}\n", error.text()).c_str(), stderr);
  std::fflush(stderr);
  if (error.code() == ErrorCode::kPeerLost) std::this_thread::sleep_for(kLeaveLimit);
  library.abort_job(exit_code_of(error));
  std::_Exit(exit_code_of(error));
}

// One group after the other, each made of the one before.
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

Result<World> join_by_mpi(const LaunchFacts& facts, const JoinOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const launch::MpiPlace place, launch::own_mpi_place(facts.launcher));
  COHORT_ASSIGN_OR_RETURN(const auto library, mpi::own_library(library_options(place)));
  COHORT_RETURN_IF_ERROR(compare(*library, facts));
  mpi::CommunicatorOptions wanted{.generation = static_cast<std::uint32_t>(facts.generation),
                                  .limit = options.limit,
                                  .waiting = mpi::Waiting::kWatched};
  if (!library->can_recover()) {
    wanted.on_failure = [raw = library.get()](const Error& error) { end_job(*raw, error); };
  }
  COHORT_ASSIGN_OR_RETURN(auto group, MpiCommunicator::make_world(library, wanted));
  return world_of(std::move(group), *library);
}

}  // namespace cohort::world

#pragma once

#include "base/clock.h"
#include "mpi/library.h"

#include <functional>
#include <memory>
#include <optional>

namespace cohort::test {

/// The MPI of this test program: one of the ranks that mpirun or srun started.
struct OwnMpi {
  std::shared_ptr<mpi::Library> library;

  /// Every rank calls this and waits for the others, on a communicator of its own. kTimedOut at the deadline.
  Status barrier(CohortMpiHandle comm, TimePoint deadline) const;
  /// A communicator of the first `world` ranks; nothing on the others. Every rank calls this.
  std::optional<CohortMpiHandle> first_ranks(int world) const;
};

/// Set by main() before any test: a process has one MPI.
OwnMpi& own_mpi();

/// What the command line of such a program says, besides what belongs to the tests.
Result<mpi::LibraryOptions> mpi_options(int argc, char** argv);

/// Says what is wrong and ends all processes of the job with exit code 1.
[[noreturn]] void end_job(const std::string& why);

}  // namespace cohort::test

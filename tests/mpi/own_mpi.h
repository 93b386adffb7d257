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

  /// Waits until every rank of `comm` has called this; a communicator that is used for nothing else.
  /// kTimedOut at the deadline.
  Status barrier(CohortMpiHandle comm, TimePoint deadline) const;
  /// A communicator of the first `world` ranks; nullopt on the others. Every rank calls this.
  std::optional<CohortMpiHandle> first_ranks(int world) const;
};

/// Set by main() before any test: a process has one MPI.
OwnMpi& own_mpi();

/// The options in the command line of such a program, without those of GoogleTest.
Result<mpi::LibraryOptions> mpi_options(int argc, char** argv);

/// Prints a line to stderr and appends it to the file that COHORT_TEST_LOG names: a launcher may drop the
/// output of a rank that ends right after.
void print_line(const std::string& text);
/// Prints the reason and ends all processes of the job with exit code 1.
[[noreturn]] void end_job(const std::string& why);

}  // namespace cohort::test

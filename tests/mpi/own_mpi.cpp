#include "mpi/own_mpi.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>
#include <thread>

namespace cohort::test {

OwnMpi& own_mpi() {
  static OwnMpi own;
  return own;
}

Status OwnMpi::barrier(CohortMpiHandle comm, TimePoint deadline) const {
  CohortMpiCollective collective{};
  collective.comm = comm;
  collective.operation = kCohortMpiBarrier;
  CohortMpiHandle request = 0;
  COHORT_RETURN_IF_ERROR(library->status(library->shim().start(&collective, &request), "barrier"));
  int is_done = 0;
  while (true) {
    COHORT_RETURN_IF_ERROR(library->status(library->shim().test(&request, &is_done), "barrier"));
    if (is_done != 0) return {};
    if (std::chrono::steady_clock::now() >= deadline) {
      return Error(ErrorCode::kTimedOut,
                   "not all processes reached the barrier of the test before the deadline");
    }
    std::this_thread::yield();
  }
}

std::optional<CohortMpiHandle> OwnMpi::first_ranks(int world) const {
  CohortMpiHandle comm = 0;
  const int colour = library->rank() < world ? 0 : COHORT_MPI_NO_COLOUR;
  if (library->shim().split(library->shim().world(), colour, library->rank(), &comm) != 0) {
    end_job("cannot split MPI_COMM_WORLD");
  }
  return colour == COHORT_MPI_NO_COLOUR ? std::nullopt : std::optional(comm);
}

Result<mpi::LibraryOptions> mpi_options(int argc, char** argv) {
  mpi::LibraryOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--mpi") {
      options.implementation = std::string_view(argv[i + 1]) == "mpich" ? mpi::Implementation::kMpich
                                                                        : mpi::Implementation::kOpenMpi;
    } else if (flag == "--shims") {
      options.shim_directory = argv[i + 1];
    } else if (flag == "--libmpi") {
      options.library = argv[i + 1];
    } else {
      return Error(ErrorCode::kUsage,
                   fmt::format("unknown flag '{}', expected --mpi, --shims or --libmpi", flag));
    }
  }
  return options;
}

void print_line(const std::string& text) {
  const std::string line = text + "\n";
  std::fputs(line.c_str(), stderr);
  const char* const log = std::getenv("COHORT_TEST_LOG");
  if (log == nullptr) return;
  if (std::FILE* const file = std::fopen(log, "a")) {
    std::fputs(line.c_str(), file);
    std::fclose(file);
  }
}

void end_job(const std::string& why) {
  print_line(fmt::format("rank {}: {}", own_mpi().library->rank(), why));
  own_mpi().library->abort_job(1);
  std::_Exit(1);
}

}  // namespace cohort::test

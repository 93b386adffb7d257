#pragma once

#include "machine/fact.h"
#include "machine/sources.h"

#include <chrono>
#include <string>
#include <string_view>

namespace cohort::machine {

enum class MpiVendor { kOpenMpi, kMpich, kIntel };

/// `Open MPI`, `MPICH`, `Intel MPI`.
std::string_view name(MpiVendor vendor);

/// The MPI whose mpirun is first on PATH.
struct Mpi {
  MpiVendor vendor = MpiVendor::kOpenMpi;
  std::string version;
};

/// From what `mpirun --version` prints.
Result<Mpi> parse_mpi_version(std::string_view text);

/// Failure: kNotFound if there is no mpirun.
Fact<Mpi> survey_mpi(const RunProgram& run, std::chrono::nanoseconds limit);

}  // namespace cohort::machine

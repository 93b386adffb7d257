#pragma once

#include "machine/sources.h"

#include <chrono>
#include <string>
#include <string_view>

namespace cohort::machine {

enum class MpiVendor { kOpenMpi, kMpich, kIntel };

/// The name: `Open MPI`, `MPICH`, `Intel MPI`.
std::string_view name(MpiVendor vendor);

/// The MPI whose mpirun comes first in PATH.
struct Mpi {
  MpiVendor vendor = MpiVendor::kOpenMpi;
  std::string version;
};

/// Parses the output of `mpirun --version`.
Result<Mpi> parse_mpi_version(std::string_view text);

/// Failure: kNotFound if there is no mpirun in PATH.
Fact<Mpi> survey_mpi(const RunProgram& run, std::chrono::nanoseconds limit);

}  // namespace cohort::machine

#pragma once

#include "base/result.h"
#include "launch/environment.h"

#include <functional>
#include <string>
#include <vector>

namespace cohort::launch {

/// Whose MPI has started this process.
struct MpiPlace {
  enum class Kind { kOpenMpi, kMpich };
  Kind kind = Kind::kOpenMpi;
  std::string library{};  ///< its libmpi; empty: the one that the system's loader finds

  bool operator==(const MpiPlace&) const = default;
};

/// What tells whose MPI it is.
struct MpiTraces {
  EnvironmentVariables environment{};
  std::vector<std::string> ancestors{};  ///< the programs that this process descends from, nearest first
  std::function<bool(const std::string& file)> exists{};
};

/// The MPI of a launcher, and its libmpi: COHORT_MPI_LIBRARY, or the one beside the mpirun that this process
/// descends from, or where Open MPI's variables say, or the system's. Of srun, the kind follows from the
/// process manager: PMIx for Open MPI, PMI for MPICH.
///
/// Failure: kUsage where no MPI has started this process.
Result<MpiPlace> mpi_place(Launcher launcher, const MpiTraces& traces);

/// That of this process, which looks at its environment and its ancestors.
Result<MpiPlace> own_mpi_place(Launcher launcher);

}  // namespace cohort::launch

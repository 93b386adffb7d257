#pragma once

#include "base/result.h"
#include "launch/environment.h"

#include <functional>
#include <string>
#include <vector>

namespace cohort::launch {

/// The MPI that started this process.
struct LaunchingMpi {
  enum class Kind { kOpenMpi, kMpich };
  Kind kind = Kind::kOpenMpi;
  std::string library{};  ///< path of its libmpi; empty: the one that the system's loader finds

  bool operator==(const LaunchingMpi&) const = default;
};

/// Everything that is looked at to find the MPI.
struct MpiTraces {
  EnvironmentVariables environment{};
  std::vector<std::string> ancestors{};  ///< the paths of the programs of parent, grandparent, …
  std::function<bool(const std::string& file)> exists{};
};

/// The MPI of a launcher and its libmpi: COHORT_MPI_LIBRARY, or the one beside the mpirun among the ancestors
/// of this process, or the one that Open MPI's variables name, or the system's. Under srun the kind follows
/// from the process manager: PMIx for Open MPI, PMI for MPICH.
///
/// Failure: kUsage where no MPI has started this process.
Result<LaunchingMpi> launching_mpi(Launcher launcher, const MpiTraces& traces);

/// launching_mpi() for this process, from its environment and its ancestors.
Result<LaunchingMpi> own_launching_mpi(Launcher launcher);

}  // namespace cohort::launch

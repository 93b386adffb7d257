#pragma once

#include "base/result.h"
#include "launch/rank_variables.h"

#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>

namespace cohort {

/// Who started this process as a rank.
enum class Launcher {
  kNone,      ///< nobody: it is the only rank of a world of one
  kCohort,    ///< `cohort run`
  kTorchrun,  ///< torchrun, or somebody who sets RANK and WORLD_SIZE as it does
  kOpenMpi,   ///< mpirun of Open MPI
  kHydra,     ///< mpirun of MPICH and its kin
  kSlurm,     ///< srun
  kPmi,       ///< another launcher that sets PMI_RANK and PMI_SIZE
};

/// As written in messages: `cohort run`, `torchrun`, …
std::string_view name(Launcher launcher);

/// Where ranks can find each other. Either may be missing.
struct Rendezvous {
  struct Address {
    std::string host{};
    int port = 0;
    bool operator==(const Address&) const = default;
  };
  /// An abstract unix socket name to build on, the same for all ranks of this job on this host, and for no
  /// other job.
  std::optional<std::string> unix_name{};
  /// The same for all ranks of this job on all hosts: MASTER_ADDR and MASTER_PORT.
  std::optional<Address> address{};

  bool operator==(const Rendezvous&) const = default;
};

/// The place of this process among those that were started together.
struct LaunchFacts {
  Launcher launcher = Launcher::kNone;
  int rank = 0;
  int world = 1;
  int local_rank = 0;   ///< among the ranks of this host
  int local_world = 1;  ///< the number of ranks on this host
  int generation = 0;   ///< how many times the job was started again
  Rendezvous rendezvous{};

  bool operator==(const LaunchFacts&) const = default;
};

/// Reads what a launcher exports. The first of these that set its variables is believed, so that the inner of
/// two nested launchers wins in the usual nestings:
///
/// | launcher | told by | rank, world, local rank, local world |
/// |---|---|---|
/// | cohort run | COHORT_RANK or COHORT_WORLD | COHORT_RANK, _WORLD, _LOCAL_RANK, _LOCAL_WORLD |
/// | torchrun | RANK and WORLD_SIZE | these, LOCAL_RANK, LOCAL_WORLD_SIZE |
/// | Open MPI | OMPI_COMM_WORLD_RANK | OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE |
/// | Hydra | PMI_RANK and MPI_LOCALRANKID | these, PMI_SIZE, MPI_LOCALNRANKS |
/// | srun | SLURM_PROCID and a SLURM_STEP_ID | SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS, |
/// | | of tasks | SLURM_LOCALID, SLURM_STEP_TASKS_PER_NODE or SLURM_NTASKS_PER_NODE |
/// | PMI | PMI_RANK | PMI_RANK, PMI_SIZE; only a world of one |
///
/// A batch script has SLURM_PROCID=0 and SLURM_NTASKS=n too, but is no rank: it has no SLURM_STEP_ID, or one
/// of the numbers that stand for no step of tasks. Hydra starts its own helpers with srun inside a job, hence
/// its place before Slurm.
///
/// COHORT_RENDEZVOUS=unix:NAME is believed with every launcher; without it the name is made of the job's own
/// identity and `user`.
/// Failure: kUsage, naming variable and value, where they contradict each other or are not what they should
/// be.
Result<LaunchFacts> launch_facts(const EnvironmentVariables& environment, uid_t user = ::getuid());

}  // namespace cohort

#pragma once

#include "base/result.h"
#include "launch/rank_variables.h"
#include <cohort/link_settings.h>

#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

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

/// Where ranks can find each other. Any of these may be missing.
struct Rendezvous {
  struct Address {
    std::string host{};
    int port = 0;
    bool operator==(const Address&) const = default;
  };
  /// An abstract unix socket name to build on, the same for all ranks of this job on this host, and for no
  /// other job.
  std::optional<std::string> unix_name{};
  /// Of a server of the launcher's, the same for all ranks of this job on all hosts: addresses to try.
  std::vector<Address> server{};
  /// A directory that all hosts see.
  std::optional<std::string> directory{};
  /// On the host of rank 0: where it may serve for all.
  std::optional<Address> address{};

  bool operator==(const Rendezvous&) const = default;
};

/// Where the key of the job is. Never the key itself: others can read the environment of a process.
struct KeyPlace {
  std::optional<int> descriptor{};  ///< an open file
  std::optional<std::string> file{};

  bool operator==(const KeyPlace&) const = default;
};

/// How ranks talk.
struct LinkFacts {
  LinkSettings settings{};
  std::vector<std::string> interfaces{};  ///< empty: any
  bool encrypts = true;                   ///< between hosts
  std::string cache{};                    ///< a directory where what links cost is remembered; empty: nowhere

  bool operator==(const LinkFacts&) const = default;
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
  KeyPlace key{};
  LinkFacts links{};

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
/// COHORT_RENDEZVOUS is believed with every launcher: unix:NAME, tcp:HOST:PORT,... of a server,
/// file:DIRECTORY, or rank0:HOST:PORT. Without it the name of this host is made of the job's own identity and
/// `user`, and the address is MASTER_ADDR:MASTER_PORT (the port after it where torchrun's own store has that
/// one), or, of srun, the first host of the step and a port made of the numbers of job and step.
///
/// COHORT_KEY_FD and COHORT_KEY_FILE say where the key of the job is; COHORT_INTERFACES=eth0,eth1 and
/// COHORT_ENCRYPTION=off how ranks of different hosts talk; COHORT_ENGINE and others (link_variables.h) what
/// their calls are carried by. COHORT_LINK_CACHE names a directory where what links cost is remembered, or is
/// `off`; without it that is cohort in XDG_CACHE_HOME, or in .cache in HOME.
/// Failure: kUsage, naming variable and value, where they contradict each other or are not what they should
/// be.
Result<LaunchFacts> launch_facts(const EnvironmentVariables& environment, uid_t user = ::getuid());

}  // namespace cohort

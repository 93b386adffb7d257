#pragma once

#include "base/result.h"
#include "launch/variable_reader.h"
#include <cohort/link_settings.h>
#include <cohort/member.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace cohort {

/// The program that started this process as a rank.
enum class Launcher {
  kNone,      ///< no launcher: the only rank of a world of one
  kCohort,    ///< `cohort run`
  kTorchrun,  ///< torchrun, or another program that sets RANK and WORLD_SIZE
  kOpenMpi,   ///< mpirun of Open MPI
  kHydra,     ///< mpirun of MPICH, Intel MPI, MVAPICH
  kSlurm,     ///< srun
  kPmi,       ///< another launcher that sets PMI_RANK and PMI_SIZE
};

/// The name in messages: `cohort run`, `torchrun`, …
std::string_view name(Launcher launcher);

/// Ways in which ranks can find each other. Each may be missing.
struct Rendezvous {
  struct Address {
    std::string host{};
    int port = 0;
    bool operator==(const Address&) const = default;
  };
  /// An abstract unix socket name, the same for all ranks of this job on this host, and different for other
  /// jobs.
  std::optional<std::string> unix_name{};
  /// The addresses of a server that the launcher runs for all ranks on all hosts; the first that answers is
  /// used.
  std::vector<Address> server{};
  /// A directory that all hosts see.
  std::optional<std::string> directory{};
  /// An address on the host of rank 0 at which rank 0 may listen.
  std::optional<Address> address{};

  bool operator==(const Rendezvous&) const = default;
};

/// The file or descriptor with the key of the job. The key itself is never in the environment, which other
/// processes can read.
struct KeySource {
  std::optional<int> descriptor{};  ///< an open file
  std::optional<std::string> file{};

  bool operator==(const KeySource&) const = default;
};

/// Settings for the connections between ranks.
struct LinkFacts {
  LinkSettings settings{};
  std::vector<std::string> interfaces{};  ///< names of network interfaces; empty: any
  bool encrypts = true;                   ///< encrypt connections between hosts
  std::string cache{};                    ///< the directory of the cache of measured links; empty: no cache

  bool operator==(const LinkFacts&) const = default;
};

/// Timeouts from the environment; those that are not set are left to the program.
struct LimitFacts {
  std::optional<std::chrono::nanoseconds> call{};      ///< COHORT_LIMIT
  std::optional<std::chrono::nanoseconds> liveness{};  ///< COHORT_LIVENESS

  bool operator==(const LimitFacts&) const = default;
};

/// How many of the processes that were started together have which role. Workers have the first ranks, then
/// come the servers, then the spares.
struct RoleFacts {
  int servers = 0;
  int spares = 0;

  /// The role of a rank among `world`.
  Role of(int rank, int world) const {
    if (rank >= world - spares) return Role::kSpare;
    return rank >= world - spares - servers ? Role::kServer : Role::kWorker;
  }
  bool operator==(const RoleFacts&) const = default;
};

/// The identity of this process among those that were started together.
struct LaunchFacts {
  Launcher launcher = Launcher::kNone;
  int rank = 0;
  int world = 1;
  int local_rank = 0;  ///< among the ranks of this host
  int local_size = 1;  ///< the number of ranks on this host
  int generation = 0;  ///< how many times the job was restarted
  RoleFacts roles{};
  Rendezvous rendezvous{};
  KeySource key{};
  LinkFacts links{};
  LimitFacts limits{};

  bool operator==(const LaunchFacts&) const = default;
};

/// Reads the variables that a launcher exports. The first launcher of this table whose variables are set is
/// taken, so that the inner of two nested launchers wins in the usual nestings:
///
/// | launcher | recognised by | rank, world, local rank, local world |
/// |---|---|---|
/// | cohort run | COHORT_RANK or COHORT_WORLD | COHORT_RANK, _WORLD, _LOCAL_RANK, _LOCAL_WORLD |
/// | torchrun | RANK and WORLD_SIZE | these, LOCAL_RANK, LOCAL_WORLD_SIZE |
/// | Open MPI | OMPI_COMM_WORLD_RANK | OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE |
/// | Hydra | PMI_RANK and MPI_LOCALRANKID | these, PMI_SIZE, MPI_LOCALNRANKS |
/// | srun | SLURM_PROCID and a SLURM_STEP_ID | SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS, |
/// | | of tasks | SLURM_LOCALID, SLURM_STEP_TASKS_PER_NODE or SLURM_NTASKS_PER_NODE |
/// | PMI | PMI_RANK | PMI_RANK, PMI_SIZE; only a world of one |
///
/// A Slurm batch script has SLURM_PROCID=0 and SLURM_NTASKS=n as well, but is not a rank: it has no
/// SLURM_STEP_ID, or one of the reserved numbers. Hydra starts its own helpers with srun inside a job, so
/// Hydra comes before Slurm.
///
/// COHORT_SERVERS and COHORT_SPARES are the numbers of ranks with these roles, and COHORT_ROLE is the role of
/// this rank; `cohort run` sets them, and with every other launcher all ranks are workers.
///
/// COHORT_RENDEZVOUS counts with every launcher: unix:NAME, tcp:HOST:PORT,... of a server, file:DIRECTORY, or
/// rank0:HOST:PORT. Without COHORT_RENDEZVOUS the unix name is made of the launcher's job identity and
/// `user`, and the address is MASTER_ADDR:MASTER_PORT (the next port where torchrun's own store listens at
/// that port); under srun it is the first host of the step and a port derived from the numbers of job and
/// step.
///
/// COHORT_KEY_FD and COHORT_KEY_FILE locate the key of the job; COHORT_INTERFACES=eth0,eth1 and
/// COHORT_ENCRYPTION=off are settings for connections between hosts; variables.h lists COHORT_BACKEND
/// and the other variables that choose the backend. COHORT_LIMIT and COHORT_LIVENESS are durations such as
/// `90s`, the values of ContextOptions::limit and ContextOptions::liveness that a program does not set.
/// COHORT_LINK_CACHE is the directory of the cache of measured links, or `off`; by default the directory is
/// cohort in XDG_CACHE_HOME, or .cache/cohort in HOME.
///
/// Failure: kUsage, with variable and value, where variables contradict each other or have an impossible
/// value.
Result<LaunchFacts> launch_facts(const EnvironmentVariables& environment, uid_t user = ::getuid());

}  // namespace cohort

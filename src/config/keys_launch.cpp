#include "base/units.h"
#include "config/sections.h"
#include <cohort/default_limit.h>

namespace cohort::config {

using namespace std::chrono_literals;

std::vector<Key> launch_keys() {
  return {
      whole_number("launch.ranks", COHORT_FIELD(launch.ranks), 1, {1, 65536},
                   "The number of ranks (processes that train together) on this machine."),
      optional_whole_number("launch.threads_per_rank", COHORT_FIELD(launch.threads_per_rank), {1, 1024},
                            "Compute threads of each rank; unset: an equal share of the usable cores."),
      size("launch.memory_per_rank", COHORT_FIELD(launch.memory_per_rank), kGiB, {16 * kMiB, 64 * kTiB},
           "The memory that one rank is expected to need, without shared memory."),
      size("launch.shared_memory_per_rank", COHORT_FIELD(launch.shared_memory_per_rank), 256 * kMiB,
           {0, 64 * kTiB},
           "The shared memory that one rank is expected to need for gradients and moments, and rank 0 for "
           "parameters; up "
           "to 8 GiB are available in any case."),
      whole_number("launch.open_files_per_rank", COHORT_FIELD(launch.open_files_per_rank), 256, {16, 1048576},
                   "The number of files and sockets that one rank may hold open."),
      text_list("launch.interfaces", COHORT_FIELD(launch.interfaces), R"(["eth0", "eth1"])",
                "Network interfaces that the job needs; each must exist and be up."),
      duration("launch.wait_limit", COHORT_FIELD(launch.wait_limit), 5min, {1ms, 24h},
               "The timeout of a communication call of a rank that waits for live ranks."),
      duration("launch.liveness", COHORT_FIELD(launch.liveness), DefaultLimit::kLiveness, {10ms, 1h},
               "The time without a sign of life after which a rank counts as lost."),
  };
}

std::vector<Key> doctor_keys() {
  return {
      flag("doctor.probe_libtorch", COHORT_FIELD(doctor.probe_libtorch), true,
           "Start a small program that loads libtorch and multiplies two matrices."),
      duration("doctor.probe_limit", COHORT_FIELD(doctor.probe_limit), 30s, {100ms, 10min},
               "The time after which a program that cohort doctor started is ended."),
      real_number("doctor.memory_headroom", COHORT_FIELD(doctor.memory_headroom), 0.1, {0.0, 0.9},
                  "The share of the available memory that a job must leave free."),
  };
}

}  // namespace cohort::config

#include "config/sections.h"

namespace cohort::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kGiB = 1ull << 30;
constexpr std::uint64_t kTiB = 1ull << 40;

}  // namespace

std::vector<Key> launch_keys() {
  return {
      whole_number("launch.ranks", COHORT_FIELD(launch.ranks), 1, {1, 65536},
                   "How many processes train together on this machine."),
      optional_whole_number("launch.threads_per_rank", COHORT_FIELD(launch.threads_per_rank), {1, 1024},
                            "Compute threads of each rank; unset, the usable cores are shared out evenly."),
      size("launch.memory_per_rank", COHORT_FIELD(launch.memory_per_rank), kGiB, {16 * kMiB, 64 * kTiB},
           "What one rank is expected to need of memory, shared memory not counted."),
      size("launch.shared_memory_per_rank", COHORT_FIELD(launch.shared_memory_per_rank), 256 * kMiB,
           {0, 64 * kTiB},
           "What one rank is expected to share with its peers on the machine: gradients, and rank 0 the "
           "parameters; "
           "up to 8 GiB there is room in any case."),
      whole_number("launch.open_files_per_rank", COHORT_FIELD(launch.open_files_per_rank), 256, {16, 1048576},
                   "How many files and sockets one rank may hold open."),
      text_list("launch.interfaces", COHORT_FIELD(launch.interfaces), R"(["eth0", "eth1"])",
                "Network interfaces that the job needs; each must exist and be up."),
      duration("launch.wait_limit", COHORT_FIELD(launch.wait_limit), 5min, {1ms, 24h},
               "How long a rank that trains waits for the others in one call, if they live."),
      duration("launch.liveness", COHORT_FIELD(launch.liveness), 500ms, {10ms, 1h},
               "How long a rank that trains may show no sign of life before it counts as lost."),
  };
}

}  // namespace cohort::config

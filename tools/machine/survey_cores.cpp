#include "machine/survey_cores.h"

#include "machine/cgroup.h"
#include "machine/kernel_text.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>
#include <sched.h>
#include <system_error>

namespace cohort::machine {
namespace {

constexpr int kMostProcessors = 1 << 16;

Error without(std::string_view line) {
  return Error(ErrorCode::kUnsupported, fmt::format("the line '{}' is missing", line));
}

Result<int> parse_field(std::string_view cpuinfo, std::string_view key) {
  const auto text = field(cpuinfo, key, ':');
  if (!text) return without(key);
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t number, parse_count(*text));
  if (number == 0 || number > kMostProcessors) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("'{}' is {}, expected 1 to {}", key, number, kMostProcessors));
  }
  return static_cast<int>(number);
}

// The kernel refuses a mask that is smaller than its own, so the mask grows until the call succeeds.
Result<int> allowed_cores() {
  int failure = EINVAL;
  for (int processors = CPU_SETSIZE; failure == EINVAL && processors <= kMostProcessors; processors *= 2) {
    const auto release = [](cpu_set_t* set) { CPU_FREE(set); };
    const std::unique_ptr<cpu_set_t, decltype(release)> mask(CPU_ALLOC(processors), release);
    const std::size_t size_bytes = CPU_ALLOC_SIZE(processors);
    CPU_ZERO_S(size_bytes, mask.get());
    if (::sched_getaffinity(0, size_bytes, mask.get()) == 0) return CPU_COUNT_S(size_bytes, mask.get());
    failure = errno;
  }
  return Error(ErrorCode::kIo,
               "cannot read the affinity mask of this process: " + std::generic_category().message(failure));
}

}  // namespace

std::optional<int> usable(const Cores& cores) {
  if (!cores.online && !cores.allowed) return std::nullopt;
  int count = cores.allowed ? *cores.allowed : *cores.online;
  if (cores.online) count = std::min(count, *cores.online);
  if (cores.quota && *cores.quota) {
    const double whole = std::max(1.0, std::floor(**cores.quota));
    if (whole < count) count = static_cast<int>(whole);
  }
  return count;
}

Result<std::string> parse_cpu_model(std::string_view cpuinfo) {
  const auto model = field(cpuinfo, "model name", ':');
  if (!model || model->empty()) return without("model name");
  return std::string(*model);
}

Result<std::vector<std::string>> parse_instruction_sets(std::string_view cpuinfo) {
  const auto flags = field(cpuinfo, "flags", ':');
  if (!flags) return without("flags");
  const auto words = words_of(*flags);
  std::vector<std::string> present;
  for (const std::string_view name : kInstructionSets) {
    if (std::find(words.begin(), words.end(), name) != words.end()) present.emplace_back(name);
  }
  return present;
}

Result<int> parse_threads_per_core(std::string_view cpuinfo) {
  COHORT_ASSIGN_OR_RETURN(const int threads, parse_field(cpuinfo, "siblings"));
  COHORT_ASSIGN_OR_RETURN(const int cores, parse_field(cpuinfo, "cpu cores"));
  if (threads < cores) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("field siblings is {}, expected {} or more, as field cpu cores is", threads, cores));
  }
  return threads / cores;
}

Cores survey_cores(const ReadText& read) {
  return {.online = parsed(read, "/sys/devices/system/cpu/online", parse_list_length),
          .allowed = allowed_cores(),
          .quota = cgroup_cpu_quota(read),
          .model = parsed(read, "/proc/cpuinfo", parse_cpu_model),
          .instruction_sets = parsed(read, "/proc/cpuinfo", parse_instruction_sets),
          .threads_per_core = parsed(read, "/proc/cpuinfo", parse_threads_per_core),
          .numa_nodes = parsed(read, "/sys/devices/system/node/online", parse_list_length)};
}

}  // namespace cohort::machine

#pragma once

#include "machine/sources.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::machine {

/// The processors, and the part of them that this process may use.
struct Cores {
  Fact<int> online{};
  Fact<int> allowed{};                  ///< cores in the affinity mask of this process
  Fact<std::optional<double>> quota{};  ///< CPU quota of the control group, in cores; empty: no quota
  Fact<std::string> model{};
  Fact<std::vector<std::string>>
      instruction_sets{};  ///< the members of kInstructionSets that the processor has
  Fact<int> threads_per_core{};
  Fact<int> numa_nodes{};
};

inline constexpr std::string_view kInstructionSets[] = {"avx2",    "fma",         "f16c",
                                                        "avx512f", "avx512_bf16", "amx_bf16"};

/// The number of busy threads that can really run at a time: the smallest of online cores, allowed cores and
/// quota. Empty if neither of the first two is known.
std::optional<int> usable(const Cores& cores);

/// Parses the text of /proc/cpuinfo.
Result<std::string> parse_cpu_model(std::string_view cpuinfo);
Result<std::vector<std::string>> parse_instruction_sets(std::string_view cpuinfo);
Result<int> parse_threads_per_core(std::string_view cpuinfo);

Cores survey_cores(const ReadText& read);

}  // namespace cohort::machine

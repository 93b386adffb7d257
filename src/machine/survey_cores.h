#pragma once

#include "machine/fact.h"
#include "machine/sources.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::machine {

/// The processors, and how much of them this process may use.
struct Cores {
  Fact<int> online{};
  Fact<int> allowed{};                  ///< in the affinity mask of this process
  Fact<std::optional<double>> quota{};  ///< cores' worth of time by control group; none: no quota
  Fact<std::string> model{};
  Fact<std::vector<std::string>> instruction_sets{};  ///< those of kInstructionSets that are there
  Fact<int> threads_per_core{};
  Fact<int> numa_nodes{};
};

inline constexpr std::string_view kInstructionSets[] = {"avx2",    "fma",         "f16c",
                                                        "avx512f", "avx512_bf16", "amx_bf16"};

/// How many busy threads the machine really runs at a time: the smallest of what is online, allowed and paid
/// for by the quota. Nothing if neither of the first two is known.
std::optional<int> usable(const Cores& cores);

/// From the text of /proc/cpuinfo.
Result<std::string> parse_cpu_model(std::string_view cpuinfo);
Result<std::vector<std::string>> parse_instruction_sets(std::string_view cpuinfo);
Result<int> parse_threads_per_core(std::string_view cpuinfo);

Cores survey_cores(const ReadText& read);

}  // namespace cohort::machine

#pragma once

#include "machine/survey.h"
#include <cohort/precision.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::machine {

enum class Severity {
  kFine,
  kNote,     ///< no harm, but good to know
  kWarning,  ///< the job will run, but slowly or at risk
  kProblem,  ///< the job will not run
};

/// The name: `fine`, `note`, `warning`, `problem`.
std::string_view name(Severity severity);

/// The result of one check of this machine.
struct Finding {
  std::string topic{};  ///< such as `memory`
  Severity severity = Severity::kFine;
  std::string found{};   ///< one line of at most kLongestFound characters
  std::string remedy{};  ///< sentences; empty with severity fine
};

inline constexpr std::size_t kLongestFound = 90;

/// The needs of a job on one host.
struct JobNeeds {
  int ranks = 1;                          ///< on this host, at least 1
  std::optional<int> threads_per_rank{};  ///< at least 1; empty: the usable cores are divided among the ranks
  std::uint64_t memory_per_rank_bytes = 0;
  std::uint64_t shared_memory_per_rank_bytes = 0;  ///< in addition to memory_per_rank_bytes
  double memory_headroom = 0.1;                    ///< fraction of the memory left free, 0 to 0.9
  ComputeType compute = ComputeType::kF32;         ///< of forward and backward
  std::vector<std::string> interfaces{};           ///< must exist and be up
  int open_files_per_rank = 64;  ///< at least 0; the launcher also holds those of all its ranks
};

/// Failure: kUsage for a value outside its range.
Status validate(const JobNeeds& needs);

/// Checks a machine against the (valid) needs of a job. Topics come in a fixed order; every topic has one
/// finding, `interface` has one for each required interface.
///
/// Cost: pure; no system calls.
std::vector<Finding> diagnose(const Survey& survey, const JobNeeds& needs);

/// The highest severity among the findings.
Severity worst(const std::vector<Finding>& findings);

}  // namespace cohort::machine

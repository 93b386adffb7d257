#pragma once

#include "machine/survey.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::machine {

enum class Severity {
  kFine,
  kNote,     ///< worth knowing
  kWarning,  ///< the job will run, but badly
  kProblem,  ///< the job will not run
};

/// `fine`, `note`, `warning`, `problem`.
std::string_view name(Severity severity);

/// One line about this machine.
struct Finding {
  std::string topic{};  ///< such as `memory`
  Severity severity = Severity::kFine;
  std::string found{};   ///< one line of at most kLongestFound characters
  std::string remedy{};  ///< sentences; empty when all is fine
};

inline constexpr std::size_t kLongestFound = 90;

/// What a job wants from one host.
struct Wishes {
  int ranks = 1;                          ///< on this host, at least 1
  std::optional<int> threads_per_rank{};  ///< at least 1; none: the usable cores are divided among the ranks
  std::uint64_t memory_per_rank_bytes = 0;
  std::uint64_t shared_memory_per_rank_bytes = 0;  ///< counted on top of the above
  double memory_headroom = 0.1;                    ///< fraction of the memory left free, 0 to 0.9
  std::vector<std::string> interfaces{};           ///< must exist and be up
  int open_files_per_rank = 64;                    ///< at least 0; the launcher holds those of all its ranks
};

/// Failure: kUsage for a wish outside its range.
Status validate(const Wishes& wishes);

/// What is fine and what is not, for a job with such (valid) wishes. The order of topics is fixed; every
/// topic has one finding, `interface` one for each that was wished for.
///
/// Cost: pure; no system calls.
std::vector<Finding> diagnose(const Survey& survey, const Wishes& wishes);

/// The gravest severity among the findings.
Severity worst(const std::vector<Finding>& findings);

}  // namespace cohort::machine

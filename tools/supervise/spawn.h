#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include "supervise/process_group.h"

#include <cohort/error.h>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cohort::supervise {

/// Everything that a new program is given.
struct SpawnPlan {
  std::vector<std::string> argv{};
  std::map<std::string, std::string> environment{};
  std::optional<std::string> working_directory{};
  bool die_with_parent = true;
  bool core_dumps = true;
  ProcessGroup group = ProcessGroup::kOurs;
  std::vector<int> cores{};  // the cores that it may run on; empty: unchanged
  // These become descriptors 0, 1 and 2. All are above 2 here, so that no dup2 overwrites another of them.
  Descriptor input{};
  Descriptor output{};
  Descriptor error_output{};
  Descriptor passed_on{};  // becomes kPassedOn, if open
};

inline constexpr int kPassedOn = 3;

/// Starts a program; returns after a successful exec, or with the reason why the program could not be
/// executed. The program begins with default signal handlers, an empty signal mask, and only the descriptors
/// of the plan.
///
/// Threads: any. With die_with_parent the program dies with the thread that called this.
/// Cost: one fork; between fork and exec nothing is allocated and no lock is taken.
Result<pid_t> spawn(const SpawnPlan& plan);

/// The system call at which a child failed between fork and exec.
enum class Step : int { kParentGone, kGroup, kCores, kDirectory, kLimits, kStreams, kExec };

/// The report of such a child to its parent: these bytes go through a pipe.
struct Refusal {
  Step step;
  int reason;  ///< errno
};

/// The report as an error with a remedy.
Error refusal_error(const SpawnPlan& plan, const Refusal& refusal);

}  // namespace cohort::supervise

#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include "launch/process_group.h"

#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cohort::launch {

/// Everything a new program is given.
struct SpawnPlan {
  std::vector<std::string> argv{};
  std::map<std::string, std::string> environment{};
  std::optional<std::string> working_directory{};
  bool die_with_parent = true;
  bool core_dumps = true;
  ProcessGroup group = ProcessGroup::kOurs;
  std::vector<int> cores{};  // the only ones it may run on; empty: those of ours
  // These become descriptors 0, 1 and 2 and are all above 2 here, so that no copy overwrites another.
  Descriptor input{};
  Descriptor output{};
  Descriptor error_output{};
  Descriptor passed_on{};  // becomes kPassedOn, if it is open
};

inline constexpr int kPassedOn = 3;

/// Starts the program and returns once it runs, or with the reason why it does not. It begins with default
/// signal handling, an empty signal mask, and no other descriptor than these.
///
/// Threads: any. With die_with_parent the program dies with the thread that called this.
/// Cost: one fork; between fork and exec nothing is allocated and no lock is taken.
Result<pid_t> spawn(const SpawnPlan& plan);

}  // namespace cohort::launch

#pragma once

#include "supervise/process_result.h"
#include "world/world.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cohort::test {

struct ProcessesOptions {
  std::chrono::nanoseconds deadline = std::chrono::seconds(20);  ///< from the start, for all ranks together
  std::chrono::nanoseconds grace = std::chrono::seconds(1);      ///< between SIGTERM and SIGKILL
  std::map<std::string, std::string> environment{};              ///< added to our environment
};

/// Exit status and output of one rank's process.
struct RankProcess {
  std::optional<ExitStatus> status{};
  std::string output{};
  std::string error_output{};
};

/// The outcome of the ranks: `world` as from run_world, where an exit code other than 0 and a death by signal
/// are failures; and the result of each process.
struct [[nodiscard]] ProcessesOutcome {
  WorldOutcome world;
  std::vector<RankProcess> process{};

  bool ok() const { return world.ok(); }
  /// The error, exit status and output of every rank.
  std::string text() const;
};

/// Runs `role` of this test program as n ranks, each a process, under the rules of run_world: the first
/// failure, or the deadline, ends the other ranks with SIGTERM and, after the grace, SIGKILL.
ProcessesOutcome run_processes(int n, const std::string& role, const std::vector<std::string>& args = {},
                               const ProcessesOptions& options = {});

}  // namespace cohort::test

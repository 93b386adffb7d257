#pragma once

#include "launch/exit_status.h"
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
  std::map<std::string, std::string> environment{};              ///< added to ours
};

/// What one rank's process left behind.
struct RankProcess {
  std::optional<ExitStatus> status{};
  std::string output{};
  std::string error_output{};
};

/// What became of the ranks: `world` as of run_world, with an exit code other than 0 and a death by signal as
/// failures, and what each process left.
struct [[nodiscard]] ProcessesOutcome {
  WorldOutcome world;
  std::vector<RankProcess> process{};

  bool ok() const { return world.ok(); }
  /// Every rank's error, exit and output.
  std::string text() const;
};

/// Runs `role` of this test program as n ranks, each a process, under the rules of run_world: the first that
/// fails, or the deadline, ends the rest with SIGTERM and, after the grace, SIGKILL.
ProcessesOutcome run_processes(int n, const std::string& role, const std::vector<std::string>& args = {},
                               const ProcessesOptions& options = {});

}  // namespace cohort::test

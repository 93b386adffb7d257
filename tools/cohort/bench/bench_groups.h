#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "bench/group_processes.h"
#include "measure/bench_run.h"
#include "session.h"

#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

/// How the groups of a benchmark are started.
struct GroupOptions {
  int ranks = 2;
  bool pin = false;
  std::optional<std::string> python{};  ///< the Python of the peer gloo; if absent, searched
  std::chrono::nanoseconds start_limit =
      std::chrono::seconds(60);  ///< until all ranks of a group have reported
  std::chrono::nanoseconds run_limit = std::chrono::seconds(60);  ///< of one turn
};

/// The contender that a word of `--kinds` or `--against` names; empty for an unknown word.
std::optional<measure::ContenderName> contender_named(const std::string& word);
/// All words of `--kinds` and `--against`.
std::vector<std::string> contender_names();

/// The rank processes of all groups of one benchmark.
///
/// Threads: one.
/// Lifetime: the destructor ends all processes and removes their shared folder.
/// Failure: names the rank or process, with its exit status and its last output.
class BenchGroups {
 public:
  static Result<BenchGroups> open(const Session& session, GroupOptions options);

  /// Starts the processes of a group and waits until all of them have reported.
  Status start(const std::string& group);
  Result<std::vector<double>> run(const measure::ContenderName& contender,
                                  const measure::RunCommand& command);

 private:
  BenchGroups(const Session& session, GroupOptions options, GroupProcesses processes);
  Result<std::vector<MemberStart>> members(const std::string& group) const;

  const Session* session_;
  GroupOptions options_;
  GroupProcesses processes_;
};

}  // namespace cohort::tool

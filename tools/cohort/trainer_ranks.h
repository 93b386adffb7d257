#pragma once

#include "config/load.h"
#include "exit_code.h"
#include "host_options.h"
#include "job_options.h"
#include "launch_options.h"
#include "session.h"
#include "supervise/rank_output.h"

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cohort::tool {

/// The ranks of a command that trains: its options about the job, ranks and hosts, and their start. Each rank
/// is the program cohort-trainer, which loads libtorch; the tool does not.
///
/// Lifetime: must not move between add_to() and the other calls.
/// Failure: kUsage for options and jobs that make no sense; what keeps ranks from being started.
class TrainerRanks {
 public:
  /// The ranks as they will be started; `plan.argv` has the program, the job and its settings.
  struct Start {
    JobPlan plan{};
    std::vector<int> host_ranks{};  ///< the number of ranks on each host
    LogFormat log_format{};
    bool is_on_hosts = false;    ///< on those of --hosts
    bool has_live_line = false;  ///< rank 0 writes to a terminal
  };

  void add_to(CLI::App& app);
  std::vector<std::string> candidates(const std::string& option) const { return job_.candidates(option); }

  Result<Start> prepare(Session& session);
  /// Runs the ranks to their end. Rank 0 writes for all ranks; lines of other ranks get their number as
  /// prefix.
  Result<ExitCode> run(const Session& session, Start start) const;

 private:
  Result<ExitCode> run_on_hosts(const Session& session, const Start& start) const;

  JobOptions job_;
  LaunchOptions launch_;
  HostOptions hosts_;
};

}  // namespace cohort::tool

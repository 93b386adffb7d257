#pragma once

#include "exit_code.h"
#include "host_options.h"
#include "session.h"
#include "supervise/supervisor.h"

#include <filesystem>
#include <string>
#include <vector>

namespace cohort::tool {

/// Runs the ranks of a job to their end. SIGINT, SIGTERM and SIGHUP end the job with a grace period, a second
/// signal ends it at once. Failures of ranks are reported on standard error and determine the exit code.
/// Failure: ranks could not be started.
Result<ExitCode> run_job(JobPlan plan, supervise::RankOutput& output);
/// Like run_job(), on several hosts.
Result<ExitCode> run_job(HostedJob hosted, supervise::RankOutput& output);

enum class PrefixColours { kHidden, kShown };

/// The prefix of the lines of each rank: `[3] `, coloured on a terminal.
std::vector<std::string> rank_prefixes(int ranks, PrefixColours colours);

/// The path of the trainer program: beside the tool, unless COHORT_TRAINER in the environment names another,
/// as tests and own builds do.
inline std::string trainer_program(const Session& session) {
  const auto named = session.environment.find("COHORT_TRAINER");
  if (named != session.environment.end() && !named->second.empty()) return named->second;
  return (std::filesystem::path(session.program).parent_path() / "cohort-trainer").string();
}

/// The remedy for a trainer that cannot be started.
inline constexpr const char* kTrainerRemedy =
    "Build or install cohort-trainer beside the tool, or set COHORT_TRAINER to its path.";

}  // namespace cohort::tool

#pragma once

#include "exit_code.h"
#include "host_options.h"
#include "launch/supervisor.h"

#include <string>
#include <vector>

namespace cohort::tool {

/// Runs the ranks of a job to their end. SIGINT, SIGTERM and SIGHUP end it in order, a second one at once.
/// What went wrong is told on standard error, and the exit code is the one that the ranks ended with.
/// Failure: what kept ranks from being started.
Result<ExitCode> run_job(JobPlan plan, launch::RankOutput& output);
/// The same on several hosts.
Result<ExitCode> run_job(HostedJob hosted, launch::RankOutput& output);

enum class PrefixColours { kHidden, kShown };

/// `[3] ` for every line of rank 3, in a colour of its own on a terminal.
std::vector<std::string> rank_prefixes(int ranks, PrefixColours colours);

}  // namespace cohort::tool

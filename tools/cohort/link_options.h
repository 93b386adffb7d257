#pragma once

#include "config/load.h"
#include "job_options.h"
#include "launch/rank_variables.h"
#include "session.h"

namespace cohort::tool {

/// The options of every command that starts ranks which say how these talk. Each says the same as `--set` of
/// its key in [communication].
void add_link_options(CLI::App& app, JobOptions& job);

enum class Reach { kOneHost, kHosts };

/// What ranks are told of how they talk: what the command line says, or else the job, or else the
/// environment.
///
/// Failure: kUsage for what there is not, and for what cannot be had from ranks that this tool starts.
Result<EnvironmentVariables> link_variables(const Session& session, const config::Loaded& job, Reach reach);

}  // namespace cohort::tool

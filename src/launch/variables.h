#pragma once

#include "base/result.h"
#include "launch/environment.h"
#include "launch/variable_reader.h"

#include <chrono>
#include <cohort/link_settings.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The parts of launch_facts(), each from its variables.

namespace cohort::launch {

/// Fills in `facts.rendezvous` from the variables of its launcher; see launch_facts().
Status read_rendezvous(const VariableReader& variables, uid_t user, LaunchFacts& facts);
/// Fills in `facts.key` and `facts.links`; see launch_facts().
Status read_links(const VariableReader& variables, LaunchFacts& facts);

/// An abstract unix socket name that no other job has: `cohort-` and 128 random bits. It leaves nothing on
/// disk.
Result<std::string> fresh_unix_name();

/// The link settings from COHORT_BACKEND, COHORT_ALGORITHM, COHORT_CHUNK, COHORT_WIRE, COHORT_SOCKETS and
/// COHORT_EXPLAIN. An empty variable, or the word auto for an algorithm, a chunk or a number of sockets,
/// counts as not set.
///
/// Failure: kUsage with variable, value and choices.
Result<LinkSettings> read_link_settings(const VariableReader& variables);

/// The settings as environment variables, for ranks. An algorithm, a chunk or a number of sockets that is not
/// set is written as auto, so that another value in the environment of a rank has no effect.
EnvironmentVariables link_variables(const LinkSettings& settings);

/// The timeouts from COHORT_LIMIT and COHORT_LIVENESS. An empty variable counts as not set.
///
/// Failure: kUsage with variable, value and the values that are allowed.
Result<LimitFacts> read_limits(const VariableReader& variables);

/// The timeouts as environment variables, for ranks.
EnvironmentVariables limit_variables(const LimitFacts& limits);

/// The variables of this environment that begin with COHORT_ and that nothing reads.
std::vector<std::string> unknown_variables(const EnvironmentVariables& environment);

/// The tasks of each node from Slurm's short form: `2(x3),1` is 2, 2, 2, 1.
/// Failure: kUsage.
Result<std::vector<int>> parse_tasks_per_node(std::string_view text);

/// The first host of Slurm's short form: `n03` for `n[03-05,9],m1`. Empty if the list is.
std::optional<std::string> first_node(std::string_view list);

/// The time at which the scheduler ends the job: SLURM_JOB_END_TIME, in seconds since 1970. Empty if no
/// scheduler tells.
Result<std::optional<std::chrono::system_clock::time_point>> end_of_job(const VariableReader& variables);

}  // namespace cohort::launch

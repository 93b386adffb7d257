#pragma once

#include "config/config.h"
#include "config/load.h"
#include "job_options.h"
#include "launch/variable_reader.h"
#include "session.h"
#include "supervise/supervisor.h"

#include <optional>

namespace CLI {
class App;
}

namespace cohort::tool {

/// The options of every command that starts ranks on this machine: their number, threads and cores.
///
/// Lifetime: must not move between add_to() and the other calls.
class LaunchOptions {
 public:
  void add_to(CLI::App& app);
  /// Adds the numbers of ranks with other roles than worker.
  void add_roles_to(CLI::App& app);

  /// The number of workers from the command line, or else from the job.
  int ranks(const LaunchConfig& launch) const;

  /// A job of ranks(launch) workers, servers and spares without a program: environment, rendezvous and cores
  /// are set.
  Result<JobPlan> plan(const Session& session, const LaunchConfig& launch) const;

 private:
  std::optional<int> ranks_;
  RoleFacts roles_;
  std::optional<int> threads_;
  bool pin_ = false;
};

/// The number of cores that this process may use.
int usable_cores();

/// Adds the options about communication and timeouts to a command that starts ranks. Each sets its key in
/// [communication] or [launch], like `--set`.
void add_link_options(CLI::App& app, JobOptions& job);

enum class Reach { kOneHost, kHosts };

/// The environment variables about communication and timeouts for ranks: from the command line, or else the
/// job, or else the environment of the tool.
///
/// Failure: kUsage for values that do not exist, and for those that ranks started by this tool cannot use.
Result<EnvironmentVariables> link_variables(const Session& session, const config::Loaded& job, Reach reach);

}  // namespace cohort::tool

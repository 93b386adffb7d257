#pragma once

#include "config/config.h"
#include "launch/supervisor.h"
#include "session.h"

#include <optional>

namespace CLI {
class App;
}

namespace cohort::tool {

/// The options of every command that starts ranks on this machine: how many, their threads, their cores.
///
/// Lifetime: must stay where it is between add_to() and the rest.
class LaunchOptions {
 public:
  void add_to(CLI::App& app);

  /// The number that was asked for, or that of the job.
  int ranks(const LaunchConfig& launch) const;

  /// A job of so many ranks with nothing to run yet: environment, rendezvous and cores are set.
  Result<JobPlan> plan(const Session& session, const LaunchConfig& launch) const;

 private:
  std::optional<int> ranks_;
  std::optional<int> threads_;
  bool pin_ = false;
};

/// How many cores this process may use.
int usable_cores();

}  // namespace cohort::tool

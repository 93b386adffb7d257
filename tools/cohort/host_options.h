#pragma once

#include "base/descriptor.h"
#include "net/job_key.h"
#include "session.h"
#include "supervise/host_job.h"
#include "supervise/supervisor.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cohort::tool {

/// A job on several hosts, and the address at which its ranks meet.
struct HostedJob {
  HostJobPlan plan{};
  net::JobKey key;
  Descriptor listener{};
};

/// The options of every command that can start ranks on several hosts.
///
/// Lifetime: must not move between add_to() and the other calls.
class HostOptions {
 public:
  void add_to(CLI::App& app);

  bool is_used() const { return hosts_.has_value(); }
  /// The number of ranks on all hosts together.
  Result<int> ranks() const;
  /// The number of ranks on each host.
  Result<std::vector<int>> host_ranks() const;
  /// The job on the hosts of the options: `job` has the program and the variables that are added to the
  /// environment of each host.
  Result<HostedJob> plan(const Session& session, const JobPlan& job) const;

 private:
  Result<std::vector<std::string>> start_words() const;
  Result<EnvironmentVariables> environment(const Session& session) const;

  std::optional<std::string> hosts_;
  std::string start_ = "ssh";
  std::optional<std::string> agent_;
  std::vector<std::string> variables_;
  std::vector<std::string> interfaces_;
  bool is_clear_ = false;
};

}  // namespace cohort::tool

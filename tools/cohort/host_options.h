#pragma once

#include "base/descriptor.h"
#include "launch/host_job.h"
#include "launch/supervisor.h"
#include "net/job_key.h"
#include "session.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cohort::tool {

/// A job on several hosts, and where its ranks are to meet.
struct HostedJob {
  HostJobPlan plan{};
  net::JobKey key;
  Descriptor listener{};
};

/// The options of every command that can start ranks on several hosts.
///
/// Lifetime: must stay where it is between add_to() and the rest.
class HostOptions {
 public:
  void add_to(CLI::App& app);

  bool is_used() const { return hosts_.has_value(); }
  /// Of all hosts together.
  Result<int> ranks() const;
  /// The same job on those hosts: `job` says what to run, and in which environment beyond that of the hosts.
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

#pragma once

#include "config/config.h"
#include "doctor/measure_links.h"
#include "host_options.h"
#include "machine/cluster.h"
#include "machine/diagnose.h"
#include "session.h"

#include <functional>
#include <string>
#include <vector>

namespace cohort::tool {

/// The facts about this machine. Files read and programs run are written to the log of the job.
machine::Survey examine(const Session& session, const Config& config);

/// The needs of the job on one host.
machine::JobNeeds wishes_of(const Config& config);

struct HostsExamination {
  std::vector<std::string> job{};  ///< the job as arguments of a command: its file, `--set`, …
  LinkMeasuring measuring{};
  std::function<void(const std::string& text)> progress{};  ///< receives progress messages, from any thread
  /// Receives at once which host cannot reach which, from any thread; the report has it as well.
  std::function<void(const std::string& text)> tell{};
};

/// Examines each host, all at the same time, by running `cohort doctor` there; meanwhile finds out which host
/// cannot reach which; then measures the links between the hosts that answered, with one rank on each, except
/// those that cannot be connected. `hosted` says how programs are started on the
/// hosts; each host is examined for its number of ranks.
///
/// Failure: none of its own; failures of a host are in the report.
/// Cost: four starts on each host.
machine::ClusterReport examine_hosts(HostedJob hosted, const HostsExamination& examination);

}  // namespace cohort::tool

#pragma once

#include "doctor/measure_links.h"
#include "host_options.h"
#include "machine/cluster.h"

#include <functional>
#include <string>
#include <vector>

namespace cohort::tool {

struct HostsExamination {
  std::vector<std::string> job{};  ///< the job as words of a command: its file, `--set`, …
  LinkMeasuring measuring{};
  std::function<void(const std::string& text)> progress{};  ///< gets what is being done; from any thread
};

/// Looks at each host by itself, all at the same time, by `cohort doctor` there; then measures the ways
/// between those that answered, by one rank on each. `hosted` says how programs are started on the hosts; its
/// number of ranks on a host is what the host is examined for.
///
/// Failure: none of its own; what is wrong with a host is in the report.
/// Cost: two starts on each host.
machine::ClusterReport examine_hosts(HostedJob hosted, const HostsExamination& examination);

}  // namespace cohort::tool

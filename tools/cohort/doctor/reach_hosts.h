#pragma once

#include "machine/cluster.h"
#include "supervise/host_job.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

struct ReachReport {
  std::vector<machine::Unreachable> unreachable{};
  std::optional<int> here{};  ///< the index of this host, if it is one of the hosts
};

/// Lets each host try to connect to each other host and to this one, at ports like those that ranks use. Only
/// the agents' own streams carry the results, so hosts that cannot reach this one can still tell.
///
/// `tell` receives a line such as `b cannot reach c: no answer from 10.0.0.3:4711 within 3 s` as soon as the
/// attempts are over, before the commands on the hosts have ended.
///
/// Failure: none of its own; a host that does not answer within a few seconds takes no part.
/// Cost: two starts on each host; three seconds if an address does not answer at all.
ReachReport find_unreachable(const HostJobPlan& plan,
                             const std::function<void(const std::string& text)>& tell);

}  // namespace cohort::tool

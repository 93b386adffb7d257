#pragma once

#include "machine/cluster.h"
#include "measure/heat_map.h"
#include "session.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cohort::tool {

/// Latency and bandwidth from each host to each.
std::vector<measure::HeatMap> heat_maps(const machine::ClusterReport& report);

/// Hosts, heat maps, findings, and a closing sentence.
std::string hosts_text(const Session& session, const machine::ClusterReport& report,
                       const std::vector<machine::Finding>& findings);

nlohmann::ordered_json hosts_json(const machine::ClusterReport& report,
                                  const std::vector<machine::Finding>& findings);

}  // namespace cohort::tool

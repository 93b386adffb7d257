#pragma once

#include "machine/cluster.h"
#include "machine/diagnose.h"
#include "machine/survey.h"
#include "measure/heat_map.h"
#include "session.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cohort::tool {

/// Every fact of a survey. A fact that could not be read is `{"unknown": reason}`.
nlohmann::ordered_json to_json(const machine::Survey& survey);

Colour colour_of(machine::Severity severity);

/// A row for each finding, and a row for its remedy.
std::string findings_table(const Session& session, const std::vector<machine::Finding>& findings);

/// A closing sentence: the number of problems or warnings, or `when_fine`.
std::string findings_closing(const Session& session, const std::vector<machine::Finding>& findings,
                             const std::string& when_fine);

nlohmann::ordered_json to_json(const std::vector<machine::Finding>& findings);
/// The inverse of to_json(); objects that are not findings are skipped.
std::vector<machine::Finding> findings_in(const nlohmann::ordered_json& list);

/// Heat maps of latency and bandwidth from each host to each.
std::vector<measure::HeatMap> heat_maps(const machine::ClusterReport& report);

/// The report: hosts, heat maps, findings, and a closing sentence.
std::string hosts_text(const Session& session, const machine::ClusterReport& report,
                       const std::vector<machine::Finding>& findings);

nlohmann::ordered_json hosts_json(const machine::ClusterReport& report,
                                  const std::vector<machine::Finding>& findings);

}  // namespace cohort::tool

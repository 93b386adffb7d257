#pragma once

#include "machine/diagnose.h"
#include "session.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cohort::tool {

Colour colour_of(machine::Severity severity);

/// A row for each finding, one more for its remedy.
std::string findings_table(const Session& session, const std::vector<machine::Finding>& findings);

/// One sentence on all of them: how many problems or warnings there are, or `when_fine`.
std::string findings_closing(const Session& session, const std::vector<machine::Finding>& findings,
                             const std::string& when_fine);

nlohmann::ordered_json to_json(const std::vector<machine::Finding>& findings);
/// What to_json() gave; what is no finding is left out.
std::vector<machine::Finding> findings_in(const nlohmann::ordered_json& list);

}  // namespace cohort::tool

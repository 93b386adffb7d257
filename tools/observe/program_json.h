#pragma once

#include "layout/program.h"

#include <nlohmann/json.hpp>

namespace cohort::observe {

/// An action as `{"verb": "reduce", "lane": 1, "bucket": 0}`; numbers that do not apply are left out.
nlohmann::ordered_json action_json(const Action& action);
/// The program of one rank: `{"rank": 0, "actions": […]}`.
nlohmann::ordered_json program_json(int rank, const Program& program);

}  // namespace cohort::observe

#pragma once

#include "layout/program.h"

#include <nlohmann/json.hpp>

namespace cohort::observe {

/// Adds the numbers of an action, or of its record in a trace; those that do not apply are left out.
template <class AnyAction>
void add_numbers(nlohmann::ordered_json& json, const AnyAction& action) {
  const auto add = [&](const char* key, const std::optional<int>& number) {
    if (number) json[key] = *number;
  };
  add("stage", action.stage);
  add("micro_batch", action.micro_batch);
  add("unit", action.unit);
  add("bucket", action.bucket);
  add("peer", action.peer);
}

/// An action as `{"verb": "reduce", "lane": 1, "bucket": 0}`.
nlohmann::ordered_json action_json(const Action& action);
/// The program of one rank: `{"rank": 0, "actions": […]}`.
nlohmann::ordered_json program_json(int rank, const Program& program);

}  // namespace cohort::observe

#include "observe/program_json.h"

namespace cohort::observe {

nlohmann::ordered_json action_json(const Action& action) {
  nlohmann::ordered_json json{{"verb", name(action.verb)}, {"lane", action.lane}};
  const auto add = [&](const char* key, const std::optional<int>& number) {
    if (number) json[key] = *number;
  };
  add("stage", action.stage);
  add("micro_batch", action.micro_batch);
  add("unit", action.unit);
  add("bucket", action.bucket);
  add("peer", action.peer);
  return json;
}

nlohmann::ordered_json program_json(int rank, const Program& program) {
  auto actions = nlohmann::ordered_json::array();
  for (const Action& action : program.actions) actions.push_back(action_json(action));
  return {{"rank", rank}, {"actions", std::move(actions)}};
}

}  // namespace cohort::observe

#include "observe/program_json.h"

namespace cohort::observe {

nlohmann::ordered_json action_json(const Action& action) {
  nlohmann::ordered_json json{{"verb", name(action.verb)}, {"lane", action.lane}};
  add_numbers(json, action);
  return json;
}

nlohmann::ordered_json program_json(int rank, const Program& program) {
  auto actions = nlohmann::ordered_json::array();
  for (const Action& action : program.actions) actions.push_back(action_json(action));
  return {{"rank", rank}, {"actions", std::move(actions)}};
}

}  // namespace cohort::observe

#include "comm/schedule/dissemination.h"

#include "base/check.h"

namespace cohort::comm {

std::vector<int> disseminate(ScheduleBuilder& builder, const Team& team, std::vector<int> after) {
  for (int distance = 1; distance < team.size(); distance *= 2) {
    builder.send_signal(team.at(team.me + distance), after);
    after.push_back(builder.receive_signal(team.at(team.me - distance)));
  }
  return after;
}

Schedule dissemination_schedule(const CallFacts& facts) {
  COHORT_CHECK_EQ(facts.operation, Operation::kBarrier);
  ScheduleBuilder builder(facts);
  disseminate(builder, whole_world(facts), {});
  return std::move(builder).finish();
}

Effort dissemination_effort(const CallFacts& facts) {
  return {.steps = static_cast<std::size_t>(num_doublings(facts.world))};
}

}  // namespace cohort::comm

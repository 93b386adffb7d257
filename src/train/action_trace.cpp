#include "train/action_trace.h"

#include <algorithm>

namespace cohort::train {

ActionTrace::ActionTrace(int num_lanes, std::size_t capacity)
    : lanes_(static_cast<std::size_t>(num_lanes), RingLog<TracedAction>(capacity)), fills_(capacity) {}

void ActionTrace::begin_step(std::int64_t step) {
  step_ = step;
  ++num_begun_;
}

void ActionTrace::add(std::size_t index, const Action& action, std::chrono::steady_clock::time_point begin,
                      std::chrono::steady_clock::time_point end) {
  lanes_[static_cast<std::size_t>(action.lane)].add(
      {.round = num_begun_, .step = step_, .index = index, .action = action, .begin = begin, .end = end});
}

void ActionTrace::fill(std::size_t index, const Action& action) {
  const auto now = std::chrono::steady_clock::now();
  fills_.add(
      {.round = num_begun_, .step = step_, .index = index, .action = action, .begin = now, .end = now});
}

std::vector<TracedAction> ActionTrace::whole_steps() const {
  std::vector<TracedAction> all;
  std::int64_t first_whole = 0;  // round
  const auto take = [&](const RingLog<TracedAction>& log) {
    const std::vector<TracedAction> entries = log.entries();
    if (log.num_lost() > 0 && !entries.empty())
      first_whole = std::max(first_whole, entries.front().round + 1);
    all.insert(all.end(), entries.begin(), entries.end());
  };
  for (const RingLog<TracedAction>& lane : lanes_) take(lane);
  take(fills_);
  std::erase_if(
      all, [&](const TracedAction& each) { return each.round < first_whole || each.round > num_whole_; });
  std::sort(all.begin(), all.end(), [](const TracedAction& a, const TracedAction& b) {
    return std::pair(a.round, a.index) < std::pair(b.round, b.index);
  });
  return all;
}

}  // namespace cohort::train

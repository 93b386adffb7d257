#include "train/action_trace.h"

#include <algorithm>

namespace cohort::train {

ActionTrace::ActionTrace(int num_lanes, std::size_t capacity)
    : lanes_(static_cast<std::size_t>(num_lanes), RingLog<TracedAction>(capacity)), fills_(capacity) {}

void ActionTrace::add(std::size_t index, const Action& action, std::chrono::steady_clock::time_point begin,
                      std::chrono::steady_clock::time_point end) {
  lanes_[static_cast<std::size_t>(action.lane)].add(
      {.step = step_, .index = index, .action = action, .begin = begin, .end = end});
}

void ActionTrace::fill(std::size_t index, const Action& action) {
  const auto now = std::chrono::steady_clock::now();
  fills_.add({.step = step_, .index = index, .action = action, .begin = now, .end = now});
}

std::vector<TracedAction> ActionTrace::whole_steps() const {
  std::vector<TracedAction> all;
  std::int64_t first_whole = 0;
  const auto take = [&](const RingLog<TracedAction>& log) {
    const std::vector<TracedAction> entries = log.entries();
    if (log.num_lost() > 0 && !entries.empty()) first_whole = std::max(first_whole, entries.front().step + 1);
    all.insert(all.end(), entries.begin(), entries.end());
  };
  for (const RingLog<TracedAction>& lane : lanes_) take(lane);
  take(fills_);
  std::erase_if(all, [&](const TracedAction& each) { return each.step < first_whole; });
  std::sort(all.begin(), all.end(), [](const TracedAction& a, const TracedAction& b) {
    return std::pair(a.step, a.index) < std::pair(b.step, b.index);
  });
  return all;
}

}  // namespace cohort::train

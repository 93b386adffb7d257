#include "comm/schedule/fold.h"

#include <algorithm>

namespace cohort::comm {
namespace {

// Inputs of lower ranks are combined in the buffer where the first of them arrived; all later inputs pass
// through these slots in turn.
int num_fold_slots(int me, int size, FoldRoom room) {
  const int passing = size - 1 - (me > 0 ? 1 : 0);
  return room == FoldRoom::kAll ? passing : std::min(passing, 2);
}

}  // namespace

void fold_in_order(ScheduleBuilder& builder, const Team& team, Region own, FoldRoom room,
                   std::size_t chunk_length) {
  const int slots = num_fold_slots(team.me, team.size(), room);
  const Region before_all = builder.scratch(team.me > 0 ? own.count : 0);
  const Region passing = builder.scratch(own.count * static_cast<std::size_t>(slots));
  int used = 0;
  for (const Region chunk : chunks_of(own, chunk_length)) {
    const std::size_t first = chunk.first - own.first;
    const Region before = team.me > 0 ? slice(before_all, first, chunk.count) : Region{};
    for (int position = 0; position < team.size(); ++position) {
      if (position == team.me) {
        if (position > 0) builder.combine(before, chunk, Order::kFromFirst);
      } else if (position == 0) {
        builder.recv(team.at(0), before);
      } else {
        const std::size_t slot = own.count * static_cast<std::size_t>(used++ % slots);
        const Region arrived = slice(passing, slot + first, chunk.count);
        builder.recv(team.at(position), arrived);
        builder.combine(arrived, position < team.me ? before : chunk, Order::kToFirst);
      }
    }
  }
}

std::size_t fold_scratch(int me, int size, std::size_t count, FoldRoom room) {
  if (size == 1) return 0;
  return count * static_cast<std::size_t>(num_fold_slots(me, size, room) + (me > 0 ? 1 : 0));
}

}  // namespace cohort::comm

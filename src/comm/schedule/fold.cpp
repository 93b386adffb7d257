#include "comm/schedule/fold.h"

#include <algorithm>

namespace cohort::comm {
namespace {

// What comes before us gathers where the first of it arrived; everything else passes through places used in
// turn.
int num_places(int me, int size, FoldRoom room) {
  const int passing = size - 1 - (me > 0 ? 1 : 0);
  return room == FoldRoom::kAll ? passing : std::min(passing, 2);
}

}  // namespace

void fold_in_order(ScheduleBuilder& builder, const Team& team, Region own, FoldRoom room,
                   std::size_t chunk_length) {
  const int places = num_places(team.me, team.size(), room);
  const Region before_all = builder.scratch(team.me > 0 ? own.count : 0);
  const Region passing = builder.scratch(own.count * static_cast<std::size_t>(places));
  int used = 0;
  for (const Region chunk : chunks_of(own, chunk_length)) {
    const std::size_t first = chunk.first - own.first;
    const Region before = team.me > 0 ? slice(before_all, first, chunk.count) : Region{};
    for (int position = 0; position < team.size(); ++position) {
      if (position == team.me) {
        if (position > 0) builder.combine(before, chunk, Order::kFromFirst);
      } else if (position == 0) {
        builder.receive(team.at(0), before);
      } else {
        const std::size_t place = own.count * static_cast<std::size_t>(used++ % places);
        const Region arrived = slice(passing, place + first, chunk.count);
        builder.receive(team.at(position), arrived);
        builder.combine(arrived, position < team.me ? before : chunk, Order::kToFirst);
      }
    }
  }
}

std::size_t fold_scratch(int me, int size, std::size_t count, FoldRoom room) {
  if (size == 1) return 0;
  return count * static_cast<std::size_t>(num_places(me, size, room) + (me > 0 ? 1 : 0));
}

}  // namespace cohort::comm

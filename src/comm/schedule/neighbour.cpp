#include "comm/schedule/neighbour.h"

#include "base/check.h"
#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

#include <algorithm>

namespace cohort::comm {

Schedule neighbour_schedule(const Graph& graph, int rank, std::size_t count) {
  const auto world = static_cast<int>(graph.size());
  const std::vector<int>& mine = graph[static_cast<std::size_t>(rank)];
  // Planned as an all_to_all, whose input and output never overlap.
  ScheduleBuilder builder({.operation = Operation::kAllToAll, .rank = rank, .world = world});
  for (int distance = 1; distance < world; ++distance) {
    const int listener = around(rank, distance, world);
    const std::vector<int>& theirs = graph[static_cast<std::size_t>(listener)];
    for (auto times = std::count(theirs.begin(), theirs.end(), rank); times > 0; --times) {
      builder.send(listener, {Memory::kInput, 0, count});
    }
  }
  for (std::size_t part = 0; part < mine.size(); ++part) {
    COHORT_CHECK(mine[part] >= 0 && mine[part] < world, "rank {} has neighbour {}, expected a rank below {}",
                 rank, mine[part], world);
    const Region to{Memory::kOutput, part * count, count};
    if (mine[part] == rank) {
      builder.copy({Memory::kInput, 0, count}, to);
    } else {
      builder.recv(mine[part], to);
    }
  }
  return std::move(builder).finish();
}

Effort neighbour_effort(const Graph& graph, std::size_t count) {
  std::vector<std::size_t> heard_by(graph.size()), hears(graph.size());
  for (std::size_t rank = 0; rank < graph.size(); ++rank) {
    for (const int neighbour : graph[rank]) {
      if (static_cast<std::size_t>(neighbour) == rank) continue;
      ++hears[rank];
      ++heard_by[static_cast<std::size_t>(neighbour)];
    }
  }
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < graph.size(); ++rank) {
    most = std::max({most, hears[rank], heard_by[rank]});
  }
  return {.steps = most, .moved = most * count};
}

}  // namespace cohort::comm

#include "comm/schedule/neighbour.h"
#include "schedule_check.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace cohort::comm {
namespace {

std::vector<Graph> graphs() {
  return {{{}},                                // one rank without neighbours
          {{0}},                               // one rank, its own neighbour
          {{1}, {0}},                          // a pair
          {{3, 1}, {0, 2}, {1, 3}, {2, 0}},    // a circle
          {{1, 2, 3, 4}, {0}, {0}, {0}, {0}},  // a star
          {{1, 1}, {}, {0, 1, 2}}};            // directed; a rank named twice; a rank itself
}

TEST(Neighbours, GetEachOthersNumbersInTheOrderOfTheGraph) {
  for (const Graph& graph : graphs()) {
    for (const std::size_t count : {0u, 1u, 5u}) {
      std::vector<Schedule> schedules;
      std::vector<RankMemory> memories;
      std::size_t moved = 0;
      for (std::size_t rank = 0; rank < graph.size(); ++rank) {
        schedules.push_back(neighbour_schedule(graph, static_cast<int>(rank), count));
        memories.push_back({.input_count = count, .output_count = count * graph[rank].size()});
        EXPECT_EQ(find_fault(schedules.back(), memories.back()), std::nullopt);
      }
      Terms terms;
      const RunOutcome outcome =
          run_schedules(terms, schedules, memories, {.seed = count, .sending = Sending::kMeeting});
      ASSERT_EQ(outcome.fault, std::nullopt);
      for (std::size_t rank = 0; rank < graph.size(); ++rank) {
        for (std::size_t i = 0; i < outcome.outputs[rank].size(); ++i) {
          EXPECT_EQ(outcome.outputs[rank][i], terms.leaf(graph[rank][i / count], i % count));
        }
        moved = std::max({moved, outcome.counted[rank].sent, outcome.counted[rank].received});
      }
      EXPECT_EQ(neighbour_effort(graph, count).moved, moved);
    }
  }
}

}  // namespace
}  // namespace cohort::comm

#pragma once

#include "comm/schedule/effort.h"
#include "comm/schedule/schedule.h"

#include <cstddef>
#include <vector>

// Neighbour exchange on a graph: every rank gets the numbers of its neighbours, side by side, in the order in
// which the graph names them. A circle of four, each with two neighbours:
//
//     0 ── 1      graph = {{3, 1}, {0, 2}, {1, 3}, {2, 0}}
//     │    │      output of rank 0: | numbers of 3 | numbers of 1 |
//     3 ── 2
//
// The graph may be directed (r hears s, s does not hear r), may name a rank twice and may name the rank
// itself.
//
// Cost, with k the most neighbours or listeners of a rank: k α + k S β. No memory, nothing is combined.

namespace cohort::comm {

/// graph[r]: the neighbours whose numbers rank r gets.
using Graph = std::vector<std::vector<int>>;

/// Input: `count` elements; output: `count` for every neighbour of `rank`, apart from the input.
Schedule neighbour_schedule(const Graph& graph, int rank, std::size_t count);
Effort neighbour_effort(const Graph& graph, std::size_t count);

}  // namespace cohort::comm

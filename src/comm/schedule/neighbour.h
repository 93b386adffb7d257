#pragma once

#include "comm/schedule/effort.h"
#include "comm/schedule/schedule.h"

#include <cstddef>
#include <vector>

// Neighbour exchange on a graph: every rank receives the input of each of its neighbours, in the order in
// which the graph names them. A circle of four, each with two neighbours:
//
//     0 ── 1      graph = {{3, 1}, {0, 2}, {1, 3}, {2, 0}}
//     │    │      output of rank 0: | input of 3 | input of 1 |
//     3 ── 2
//
// The graph may be directed (r receives from s, but not s from r), may name a rank twice and may name the
// rank itself.
//
// Cost, with k the most messages that a rank sends or receives: k α + k S β. No scratch, nothing is combined.

namespace cohort::comm {

/// graph[r]: the ranks whose input rank r receives.
using Graph = std::vector<std::vector<int>>;

/// Input: `count` elements; output: `count` elements for every neighbour of `rank`. They must not overlap.
Schedule neighbour_schedule(const Graph& graph, int rank, std::size_t count);
Effort neighbour_effort(const Graph& graph, std::size_t count);

}  // namespace cohort::comm

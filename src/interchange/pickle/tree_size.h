#pragma once

#include "interchange/pickle/graph.h"

namespace cohort::interchange {

/// Whether the tree of values below a node keeps the limits of limits.h. A pickle of a few bytes may stand
/// for a tree without end, so its size is computed before it is made.
///
/// Failure: kCorrupt, naming the limit.
/// Cost: one visit of each node, however many nodes refer to it.
Status check_tree_size(const Graph& graph, NodeId root);

}  // namespace cohort::interchange

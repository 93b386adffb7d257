#pragma once

#include <span>
#include <vector>

namespace cohort::copies {

/// For each rank, the rank that holds a second copy of its share: its *keeper*. A keeper is on another host
/// where there is one, and ranks of equally large hosts keep one share each. If one host has more than half
/// of the ranks, the others keep its shares in turn. On a single host each rank is its own keeper, as its
/// memory outlives its process there. A pure function, the same on all ranks.
///
///     hosts 0 0 1 1 → keepers 2 3 0 1        hosts 0 0 0 1 → keepers 3 3 3 0
///
/// `hosts`: the host of each rank, as any number.
std::vector<int> place_keepers(std::span<const int> hosts);

}  // namespace cohort::copies

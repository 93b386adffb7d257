#pragma once

#include <vector>

namespace cohort {

/// The slots of one rank when `slots` of them are dealt to `world` ranks: contiguous, in order of ranks, and
/// no rank has two more than another. With fewer slots than ranks some get none.
std::vector<int> deal(int slots, int world, int rank);

}  // namespace cohort

#pragma once

#include "base/result.h"

#include <vector>

namespace cohort::launch {

/// The numbers of the cores that this process may run on, in ascending order.
Result<std::vector<int>> allowed_cores();

/// The cores one of `ranks` ranks is pinned to: its part of an even, contiguous split of `cores`, the first
/// ranks getting one more where it does not divide. With more ranks than cores each gets one, in turn.
std::vector<int> cores_of_rank(const std::vector<int>& cores, int rank, int ranks);

}  // namespace cohort::launch

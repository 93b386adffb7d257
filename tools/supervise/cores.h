#pragma once

#include "base/result.h"

#include <vector>

namespace cohort::supervise {

/// The numbers of the cores that this process may run on, in ascending order.
Result<std::vector<int>> allowed_cores();

/// The cores that a rank is pinned to: its part of an even, contiguous split of `cores` over `ranks` ranks;
/// the first ranks get one core more where the split is uneven. With more ranks than cores each rank gets one
/// core, round robin.
std::vector<int> cores_of_rank(const std::vector<int>& cores, int rank, int ranks);

}  // namespace cohort::supervise

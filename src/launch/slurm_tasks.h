#pragma once

#include "base/result.h"

#include <string_view>
#include <vector>

namespace cohort::launch {

/// The tasks of each node from Slurm's short form: `2(x3),1` is 2, 2, 2, 1.
/// Failure: kUsage.
Result<std::vector<int>> parse_tasks_per_node(std::string_view text);

}  // namespace cohort::launch

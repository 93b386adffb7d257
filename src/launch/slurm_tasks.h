#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::launch {

/// The tasks of each node from Slurm's short form: `2(x3),1` is 2, 2, 2, 1.
/// Failure: kUsage.
Result<std::vector<int>> parse_tasks_per_node(std::string_view text);

/// The first host of Slurm's short form: of `n[03-05,9],m1` it is `n03`. Nothing if there is none.
std::optional<std::string> first_node(std::string_view list);

}  // namespace cohort::launch

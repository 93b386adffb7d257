#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace cohort::measure {

/// Parses `4,64KiB,32MiB` and ranges: `4..64MiB` is 4, 8, 16, … up to 64 MiB. The result is in ascending
/// order, without repetition.
/// Failure: kUsage for a text that is not a size, an empty list, a descending range, and more than 8 GiB.
Result<std::vector<std::uint64_t>> parse_sizes(std::string_view text);

}  // namespace cohort::measure

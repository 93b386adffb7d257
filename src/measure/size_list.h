#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace cohort::measure {

/// `4,64KiB,32MiB` and ranges: `4..64MiB` is 4, 8, 16, … up to 64 MiB. Without repetition, in rising order.
/// Failure: kUsage for what is no size, an empty list, a range that falls, and more than 8 GiB.
Result<std::vector<std::uint64_t>> parse_sizes(std::string_view text);

}  // namespace cohort::measure

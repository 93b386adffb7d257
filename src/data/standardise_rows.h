#pragma once

#include "data/standardise.h"
#include "records/rows.h"

#include <vector>

namespace cohort::data {

/// The scale that gives all numbers of these rows mean 0 and deviation 1. `is_left_out` has a value for each
/// row, or is empty.
///
/// Failure: as Rows.
/// Cost: reads the rows once, for bytes, or twice; memory for 1 MiB of them.
Result<Scale> scale_of(const records::Rows& rows, const std::vector<bool>& is_left_out);

}  // namespace cohort::data

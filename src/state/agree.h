#pragma once

#include "comm/group/communicator.h"

#include <cstdint>

namespace cohort::state {

/// The error of this rank, if it has one; else that of the first rank that has one, as kAborted with its
/// number. All ranks call this together, so that either all of them go on or none does.
Status agree(Communicator& group, const Status& mine);
/// The largest of the numbers of all ranks. All ranks call this together.
Result<std::int64_t> largest_of_all(Communicator& group, std::int64_t mine);

}  // namespace cohort::state

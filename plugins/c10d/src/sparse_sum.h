#pragma once

#include "comm/communicator.h"

#include <ATen/core/Tensor.h>
#include <chrono>

namespace cohort::c10d_plugin {

/// The sum of every rank's sparse tensor: each gets the elements of all, and adds up those that share a
/// place. Done when it returns.
///
/// Failure: torch's, as raise_for_torch().
/// Cost: two broadcasts for each rank.
at::Tensor sparse_sum(const at::Tensor& own, Communicator& group, std::chrono::nanoseconds limit);

}  // namespace cohort::c10d_plugin

#pragma once

#include "comm/group/communicator.h"

#include <ATen/core/Tensor.h>
#include <chrono>

namespace cohort::c10d_plugin {

/// The sum of the sparse tensors of all ranks: every rank receives all elements and adds those with equal
/// indices. Blocks until it is done.
///
/// Failure: throws DistBackendError, see raise_for_torch(); RuntimeError if shapes or types differ.
/// Cost: two broadcasts for each rank.
at::Tensor sparse_sum(const at::Tensor& own, Communicator& group, std::chrono::nanoseconds limit);

}  // namespace cohort::c10d_plugin

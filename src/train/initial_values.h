#pragma once

#include "comm/communicator.h"
#include "train/parameters.h"

#include <vector>

namespace cohort::train {

/// Every rank gets rank 0's tensors.
void send_from_first(Communicator& group, const std::vector<NamedTensor>& tensors);

}  // namespace cohort::train

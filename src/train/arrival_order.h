#pragma once

#include "comm/communicator.h"

#include <cstddef>
#include <vector>

namespace cohort::train {

/// The order in which gradients came, the same on all ranks: that of rank 0. Of a parameter that came several
/// times the last time counts: that is what is waited for. Those that did not come stand at the end.
std::vector<std::size_t> agreed_order(Communicator& group, const std::vector<std::size_t>& arrivals,
                                      std::size_t num_parameters);

/// Gradients are expected in about the reverse of the order in which layers were registered.
std::vector<std::size_t> expected_order(std::size_t num_parameters);

}  // namespace cohort::train

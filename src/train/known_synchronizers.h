#pragma once

#include "train/synchronizer.h"

#include <memory>

// The synchronizers of synchronizer_kinds(); docs/adding-a-synchronizer.md adds one.
namespace cohort::train {

/// Synchronous updates, sharded over the ranks. Each rank reduces its slice of all gradients, updates its
/// slice of the parameters and all-gathers the result, unless all ranks share one copy; if the ranks of each
/// host share one, only across hosts. So the ranks share the work of the optimizer and the memory of its
/// moments. Another synchronizer may leave out all actions of a bucket in a step, on all ranks: then nobody
/// has used its parameters.
///
/// Cost: one slice for gradients that are reduced before the vote; the memory of the reducer.
std::unique_ptr<Synchronizer> make_lock_step(const SynchronizerInputs& inputs);

}  // namespace cohort::train

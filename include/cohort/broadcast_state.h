#pragma once

#include <cohort/export.h>

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace cohort {

class Group;

/// Copies rank 0's parameters and buffers to all ranks. Called on all ranks together.
///
/// Failure: throws UsageError if the modules of the ranks differ, and Error as the collectives do.
COHORT_EXPORT void broadcast_state(Group& group, torch::nn::Module& module);

/// Copies rank 0's module, and the settings and the state of its optimizer: moments, step counts, learning
/// rates. For a training that goes on from files that only rank 0 has read:
///
///     if (context.rank() == 0) {
///       torch::load(net, "net.pt");
///       torch::load(optimizer, "optimizer.pt");
///     }
///     cohort::broadcast_state(context, *net, optimizer);
///
/// Failure: also throws UsageError if the optimizers of the ranks are of different kinds or have different
/// parameters.
COHORT_EXPORT void broadcast_state(Group& group, torch::nn::Module& module,
                                   torch::optim::Optimizer& optimizer);

}  // namespace cohort

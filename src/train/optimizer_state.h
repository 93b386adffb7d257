#pragma once

#include "train/module_tensors.h"
#include <cohort/state.h>

namespace torch::optim {
class Optimizer;
}

namespace cohort::train {

/// Visits everything that an optimizer of torch keeps for its parameters, which are those of `tensors`, as
/// visit_state() does. State that the optimizer would make in its first step is made, as zeros.
///
/// Failure: throws UsageError for an optimizer whose state is not known, for one whose first step cannot start
/// from zeros, and for a parameter that is not among the tensors.
void visit_optimizer(torch::optim::Optimizer& optimizer, const ModuleTensors& tensors,
                     const StateVisitor& visitor);

}  // namespace cohort::train

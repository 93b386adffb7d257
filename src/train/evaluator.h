#pragma once

#include "comm/communicator.h"
#include <cohort/trainer.h>

namespace cohort::train {

/// Mean loss and share of right answers over a data set. Ranks take batches in turn; the sums are made in the
/// order of batches, so that they do not depend on the world.
/// Failure: throws; the first failure of a rank ends it for all.
EvaluationReport evaluate(Communicator& group, torch::nn::Module& module, const Objective& objective,
                          const Dataset& data, std::int64_t batch);

}  // namespace cohort::train

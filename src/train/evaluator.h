#pragma once

#include "comm/communicator.h"
#include <cohort/trainer.h>

namespace cohort::train {

struct EvaluationOptions {
  std::int64_t batch = 256;
  std::function<bool()> wants_to_stop{};  ///< asked before each batch
};

/// Mean loss and share of right answers over a data set. Ranks take batches in turn; the sums are made in the
/// order of batches, so that they do not depend on the world.
/// Failure: throws; the first failure of a rank ends it for all.
/// Nothing if any rank was asked to stop meanwhile.
std::optional<EvaluationReport> evaluate(Communicator& group, torch::nn::Module& module,
                                         const Objective& objective, const Dataset& data,
                                         const EvaluationOptions& options);

}  // namespace cohort::train

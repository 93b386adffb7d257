#pragma once

#include "comm/group/communicator.h"
#include <cohort/trainer.h>

namespace cohort::train {

struct EvaluationOptions {
  std::int64_t batch = 256;
  std::function<bool()> wants_to_stop{};  ///< asked before each batch
};

/// Mean loss and share of right answers over a data set. Ranks take batches in turn; sums are made in the
/// order of batches, so that they do not depend on the number of ranks. Nothing if a rank was asked to stop.
///
/// Failure: throws; the first failure of a rank ends the evaluation of all ranks.
std::optional<EvaluationReport> evaluate(Communicator& group, torch::nn::Module& module,
                                         const Objective& objective, const Dataset& data,
                                         const EvaluationOptions& options);

/// Failure: throws UsageError if the loss that an objective returned is not one number.
void check_is_one_number(const at::Tensor& loss);

}  // namespace cohort::train

#pragma once

#include "comm/group/communicator.h"
#include "train/computation.h"
#include <cohort/trainer.h>

#include <optional>
#include <string>

namespace cohort::train {

struct EvaluationOptions {
  std::int64_t batch = 256;
  std::function<bool()> wants_to_stop{};  ///< asked before each batch
  ComputeType compute = ComputeType::kF32;
};

/// Mean loss and share of right answers over a data set. Ranks take batches in turn; sums are made in the
/// order of batches, so that they do not depend on the number of ranks. Every evaluation sees the same draw
/// of the data. Nothing if a rank was asked to stop.
///
/// Failure: throws; the first failure of a rank ends the evaluation of all ranks.
std::optional<EvaluationReport> evaluate(Communicator& group, torch::nn::Module& module,
                                         const Computation& computation, const Dataset& data,
                                         const EvaluationOptions& options);

/// Failure: throws UsageError if the loss that an objective returned is not one number.
void check_is_one_number(const at::Tensor& loss);

/// Checks the sum of the weights of a step or an evaluation, which losses are divided by. `of`: `of step 3`.
/// All ranks call it with the same weight.
///
/// Failure: throws unless the weight is finite and above 0: on rank 0 UsageError, on the others a failure of rank 0.
void check_weight(const Communicator& group, double weight, const std::string& of);

}  // namespace cohort::train

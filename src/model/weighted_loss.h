#pragma once

#include "model/loss.h"

namespace cohort::model {

/// The loss of a batch whose answers, samples or tokens, have weights: one number for each answer. Target and
/// output fit each other.
///
/// Failure: UsageError if there are more or fewer weights than answers.
Evaluation weighted_loss(LossKind kind, const at::Tensor& output, const at::Tensor& target,
                         const at::Tensor& weight);

}  // namespace cohort::model

#pragma once

#include "config/config.h"
#include "data/facts.h"
#include "model/model.h"

#include <cohort/dataset.h>
#include <cohort/evaluation.h>
#include <string_view>

namespace cohort {

/// The loss of a sample.
///
/// A batch may have a tensor `weight`, a number for each answer: for each sample or, if the target has
/// tokens, for each token. Then the loss is the weighted sum over answers, its weight is the sum of these
/// numbers, and answers of weight 0 count neither as right nor as wrong.
enum class LossKind {
  kSquaredError,        ///< squared difference, mean over the outputs of the sample
  kCrossEntropy,        ///< −log of the probability of the class, mean over the tokens of the sample
  kBinaryCrossEntropy,  ///< the same for two classes and one logit, that of class 1
};

/// `squared_error`, `cross_entropy`, `binary_cross_entropy`.
std::string_view name(LossKind kind);

/// The loss of a model that make_model() accepts.
LossKind loss_of(const ModelConfig& config, const DataFacts& facts);

/// Runs the model on a batch and computes the loss. The caller decides on gradient mode and training mode. An
/// empty batch has weight 0 and a loss without a gradient.
///
/// Failure: UsageError if target and output do not fit; c10::Error from torch.
Evaluation evaluate(Model& model, LossKind kind, const Batch& batch);

/// The same for an output of the model.
Evaluation judge(LossKind kind, const at::Tensor& output, const Batch& batch);

}  // namespace cohort

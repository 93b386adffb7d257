#pragma once

#include "config/config.h"
#include "data/facts.h"
#include "model/model.h"

#include <cohort/dataset.h>
#include <cohort/evaluation.h>
#include <string_view>

namespace cohort {

/// The loss of a sample is
///   kSquaredError        the mean over its outputs of the squared difference
///   kCrossEntropy        -log of the probability of its class; the mean over its tokens, where it has
///   several kBinaryCrossEntropy  the same for two classes and one logit: that of class 1
enum class LossKind { kSquaredError, kCrossEntropy, kBinaryCrossEntropy };

/// `squared_error`, `cross_entropy`, `binary_cross_entropy`.
std::string_view name(LossKind kind);

/// What a model that make_model() accepts is trained with.
LossKind loss_of(const ModelConfig& config, const DataFacts& facts);

/// Runs the model on a batch. Whether gradients and dropout are on is up to the caller. An empty batch weighs
/// nothing and its loss has no gradient.
/// Failure: UsageError where target and output do not fit; c10::Error for what torch itself refuses.
Evaluation evaluate(Model& model, LossKind kind, const Batch& batch);

/// The same for an output that is there already.
Evaluation judge(LossKind kind, const at::Tensor& output, const Batch& batch);

}  // namespace cohort

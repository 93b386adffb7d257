#pragma once

#include <ATen/core/Tensor.h>
#include <cohort/export.h>

#include <optional>

namespace cohort {

/// The loss of a batch and the number of correct answers. All members are sums, so that batches of different
/// sizes can be added.
///
/// The weight decides what the mean is over: the number of samples for a mean over samples, the number of
/// tokens that count for a mean over tokens. The mean gradient of a step, its loss, and the loss of an
/// evaluation are the sum over all batches of all ranks, divided by the sum of their weights.
struct Evaluation {
  at::Tensor loss{};   ///< a scalar, differentiable when gradients are enabled
  double weight = 0;   ///< number of samples, or of tokens that count
  double correct = 0;  ///< correct answers; 0 if there are no classes
  double counted = 0;  ///< answers that could be correct or wrong; 0 if there are no classes
};

/// The sum of the evaluations of several batches.
struct COHORT_EXPORT EvaluationSum {
  double loss = 0;
  double weight = 0;
  double correct = 0;
  double counted = 0;

  void add(const Evaluation& part);
  /// The sum of losses divided by the sum of weights.
  ///
  /// Failure: throws UsageError unless the sum of weights is finite and above 0.
  double mean_loss() const;
  /// The share of correct answers, if there were any to give.
  std::optional<double> accuracy() const;
};

}  // namespace cohort

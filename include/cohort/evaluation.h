#pragma once

#include <ATen/core/Tensor.h>

namespace cohort {

/// The loss of a batch and the number of correct answers. All members are sums over samples, so that batches
/// of different sizes can be added: the mean loss of several batches is the sum of their losses divided by
/// the sum of their weights.
struct Evaluation {
  at::Tensor loss{};   ///< a scalar, differentiable when gradients are enabled
  double weight = 0;   ///< number of samples
  double correct = 0;  ///< correct answers; 0 if there are no classes
  double counted = 0;  ///< answers that could be correct or wrong; 0 if there are no classes
};

}  // namespace cohort

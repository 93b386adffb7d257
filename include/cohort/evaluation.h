#pragma once

#include <ATen/core/Tensor.h>

namespace cohort {

/// What a model makes of a batch. Everything is a sum over samples, so that batches of uneven size add up:
/// the mean loss of several is the sum of their losses divided by the sum of their weights.
struct Evaluation {
  at::Tensor loss{};   ///< a scalar, differentiable where gradients are on
  double weight = 0;   ///< samples
  double correct = 0;  ///< right answers, where there are classes
  double counted = 0;  ///< answers given; 0 where there are no classes
};

}  // namespace cohort

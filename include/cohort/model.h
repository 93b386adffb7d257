#pragma once

#include <cohort/export.h>

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace cohort {

/// A model that a job file can name: linear, logistic, softmax, mlp, lenet, resnet18 or gpt.
class COHORT_EXPORT Model : public torch::nn::Module {
 public:
  /// Maps inputs, stacked along the first dimension, to outputs; for classes these are logits. Inputs of any
  /// type are converted to the type of the parameters.
  virtual at::Tensor forward(const at::Tensor& input) = 0;
};

}  // namespace cohort

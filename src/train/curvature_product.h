#pragma once

#include <ATen/core/Tensor.h>
#include <functional>
#include <vector>

namespace cohort::train {

/// The sum of the losses of some samples as a function of the output of the model.
using LossOfOutput = std::function<at::Tensor(const at::Tensor& output)>;

/// The product JᵀHJ v for the samples of an output, one tensor for each parameter, undefined for those
/// without part in the output: J is the Jacobian of the output, H the second derivatives of the loss by it.
/// Without a loss H is the identity.
///
/// The graph of the output is kept. J v comes from two products with the transposed Jacobian, since
/// Jᵀu is linear in u and its derivative by u along v is J v.
///
/// Failure: throws what torch throws for an operation without second derivatives.
/// Cost: about two backwards through the model, and one through the backward.
std::vector<at::Tensor> curvature_product(const at::Tensor& output, const LossOfOutput& loss,
                                          const std::vector<at::Tensor>& parameters,
                                          const std::vector<at::Tensor>& vector);

}  // namespace cohort::train

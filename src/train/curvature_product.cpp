#include "train/curvature_product.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

namespace cohort::train {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr bool kKeepGraph = true;
constexpr bool kAllowUnused = true;

// Undefined if the output does not depend on the parameters.
at::Tensor jacobian_product(const at::Tensor& output, const Tensors& parameters, const Tensors& vector) {
  const at::Tensor probe = at::zeros_like(output.detach()).set_requires_grad(true);
  const Tensors transposed = torch::autograd::grad({output}, parameters, {probe}, kKeepGraph,
                                                   /*create_graph=*/true, kAllowUnused);
  Tensors used, along;
  for (std::size_t p = 0; p < transposed.size(); ++p) {
    if (!transposed[p].defined() || !transposed[p].requires_grad()) continue;
    used.push_back(transposed[p]);
    along.push_back(vector[p]);
  }
  if (used.empty()) return {};
  return torch::autograd::grad(used, {probe}, along, kKeepGraph, /*create_graph=*/false, kAllowUnused)[0];
}

// A loss that is linear in the output has no second derivatives.
at::Tensor hessian_product(const LossOfOutput& loss, const at::Tensor& output, const at::Tensor& vector) {
  const at::Tensor leaf = output.detach().set_requires_grad(true);
  const at::Tensor slope =
      torch::autograd::grad({loss(leaf)}, {leaf}, {}, kKeepGraph, /*create_graph=*/true)[0];
  if (!slope.requires_grad()) return {};
  return torch::autograd::grad({slope}, {leaf}, {vector}, !kKeepGraph, /*create_graph=*/false,
                               kAllowUnused)[0];
}

}  // namespace

std::vector<at::Tensor> curvature_product(const at::Tensor& output, const LossOfOutput& loss,
                                          const std::vector<at::Tensor>& parameters,
                                          const std::vector<at::Tensor>& vector) {
  const at::AutoGradMode with_graph(true);
  at::Tensor along = jacobian_product(output, parameters, vector);
  if (along.defined() && loss) along = hessian_product(loss, output, along);
  if (!along.defined()) return Tensors(parameters.size());
  return torch::autograd::grad({output}, parameters, {along}, kKeepGraph, /*create_graph=*/false,
                               kAllowUnused);
}

}  // namespace cohort::train

#include "train/narrow_parameters.h"

#include <ATen/ATen.h>

namespace cohort::train {

void narrow_parameters(const ModuleTensors& tensors) {
  const at::NoGradGuard no_grad;
  for (const NamedTensor& named : tensors.parameters) {
    at::Tensor parameter = named.tensor;
    if (parameter.dim() < 2 || parameter.scalar_type() != at::kFloat) continue;
    parameter.mutable_grad() = at::Tensor();
    parameter.set_data(parameter.detach().to(at::kBFloat16));
  }
}

}  // namespace cohort::train

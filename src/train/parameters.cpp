#include "train/parameters.h"

#include <torch/nn/module.h>
#include <unordered_set>

namespace cohort::train {

ModuleTensors tensors_of(const torch::nn::Module& module) {
  ModuleTensors tensors;
  std::unordered_set<const void*> seen;
  for (const auto& item : module.named_parameters()) {
    const at::Tensor& tensor = item.value();
    if (!tensor.defined() || !seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    (tensor.requires_grad() ? tensors.parameters : tensors.frozen).push_back({item.key(), tensor});
  }
  for (const auto& item : module.named_buffers()) {
    const at::Tensor& tensor = item.value();
    if (!tensor.defined() || !seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    (tensor.is_floating_point() ? tensors.buffers : tensors.counters).push_back({item.key(), tensor});
  }
  return tensors;
}

std::vector<at::Tensor> plain(const std::vector<NamedTensor>& named) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& each : named) tensors.push_back(each.tensor);
  return tensors;
}

}  // namespace cohort::train

#pragma once

#include <ATen/core/Tensor.h>
#include <string>
#include <vector>

namespace torch::nn {
class Module;
}

namespace cohort::train {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// The tensors of a module that training is about, each once, however many names it has.
struct ModuleTensors {
  std::vector<NamedTensor> parameters;  ///< those with gradients
  std::vector<NamedTensor> frozen;      ///< parameters without
  std::vector<NamedTensor> buffers;     ///< floating-point ones: running means and the like
  std::vector<NamedTensor> counters;    ///< the other buffers
};

ModuleTensors tensors_of(const torch::nn::Module& module);
std::vector<at::Tensor> plain(const std::vector<NamedTensor>& named);

}  // namespace cohort::train

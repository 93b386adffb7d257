#include "train/module_tensors.h"
#include "train/optimizer_state.h"
#include "train/tensor_pieces.h"
#include <cohort/state.h>

#include <torch/nn/module.h>

namespace cohort {

void visit_state(torch::nn::Module& module, const StateVisitor& visitor) {
  train::visit_module(train::tensors_of(module), visitor);
}

void visit_state(torch::nn::Module& module, torch::optim::Optimizer& optimizer, const StateVisitor& visitor) {
  const train::ModuleTensors tensors = train::tensors_of(module);
  train::visit_module(tensors, visitor);
  train::visit_optimizer(optimizer, tensors, visitor);
}

}  // namespace cohort

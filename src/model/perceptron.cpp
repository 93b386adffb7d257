#include "model/perceptron.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/container/modulelist.h>

namespace cohort::model {

Perceptron::Perceptron(Initializer& initializer, const PerceptronOptions& options)
    : activation_(options.activation) {
  auto layers = register_module("layers", std::make_shared<torch::nn::ModuleListImpl>());
  auto dropouts = register_module("dropouts", std::make_shared<torch::nn::ModuleListImpl>());
  for (std::size_t i = 0; i + 1 < options.widths.size(); ++i) {
    layers_.push_back(uniform_linear(initializer, options.widths[i], options.widths[i + 1]));
    layers->push_back(layers_.back());
    if (i + 2 == options.widths.size()) break;
    dropouts_.emplace_back(options.dropout);
    dropouts->push_back(dropouts_.back());
  }
}

at::Tensor Perceptron::forward(const at::Tensor& input) {
  at::Tensor x = input.flatten(1).to(layers_[0]->dtype());
  for (std::size_t i = 0; i < dropouts_.size(); ++i) {
    x = dropouts_[i]->forward(activate(activation_, layers_[i]->forward(x)));
  }
  return layers_.back()->forward(x);
}

}  // namespace cohort::model

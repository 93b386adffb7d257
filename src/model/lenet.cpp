#include "model/lenet.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/container/modulelist.h>

namespace cohort::model {
namespace {

constexpr std::int64_t kChannels[] = {16, 32};
constexpr std::int64_t kWidth = 128;

}  // namespace

LeNet::LeNet(Initializer& initializer, const LeNetOptions& options)
    : activation_(options.activation), memory_(options.memory) {
  auto convolutions = register_module("convolutions", std::make_shared<torch::nn::ModuleListImpl>());
  ConvolutionOptions convolution{
      .inputs = options.image.channels, .kernel = 5, .bias = Bias::kWithBias, .memory = memory_};
  for (std::size_t i = 0; i < convolutions_.size(); ++i) {
    convolution.outputs = kChannels[i];
    convolutions_[i] = std::make_shared<Convolution>(initializer, convolution);
    convolutions->push_back(convolutions_[i]);
    convolution.inputs = convolution.outputs;
  }
  const std::int64_t pixels = (options.image.height / 4) * (options.image.width / 4);
  layers_ = {uniform_linear(initializer, kChannels[1] * pixels, kWidth),
             uniform_linear(initializer, kWidth, options.classes)};
  auto layers = register_module("layers", std::make_shared<torch::nn::ModuleListImpl>());
  for (const auto& layer : layers_) layers->push_back(layer);
  dropout_ = register_module("dropout", Dropout(options.dropout));
}

at::Tensor LeNet::forward(const at::Tensor& input) {
  at::Tensor x = as_images(input, convolutions_[0]->dtype(), memory_);
  for (const auto& convolution : convolutions_) {
    x = at::max_pool2d(activate(activation_, convolution->forward(x)), {2, 2});
  }
  x = activate(activation_, layers_[0]->forward(x.flatten(1)));
  return layers_[1]->forward(dropout_->forward(x));
}

}  // namespace cohort::model

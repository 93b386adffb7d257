#include "model/resnet.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/container/modulelist.h>

namespace cohort::model {
namespace {

constexpr std::int64_t kStages[] = {64, 128, 256, 512};
constexpr int kBlocksPerStage = 2;

}  // namespace

ResidualBlock::ResidualBlock(Initializer& initializer, const ConvolutionOptions& convolution, NormOver over) {
  ConvolutionOptions second = convolution;
  second.inputs = convolution.outputs;
  second.stride = 1;
  conv1_ = register_module("conv1", std::make_shared<Convolution>(initializer, convolution));
  norm1_ = register_module("norm1", make_batch_norm(convolution.outputs, over));
  conv2_ = register_module("conv2", std::make_shared<Convolution>(initializer, second));
  norm2_ = register_module("norm2", make_batch_norm(convolution.outputs, over));
  if (convolution.stride == 1 && convolution.inputs == convolution.outputs) return;
  ConvolutionOptions shortcut = convolution;
  shortcut.kernel = 1;
  shortcut_ = register_module("shortcut", std::make_shared<Convolution>(initializer, shortcut));
  shortcut_norm_ = register_module("shortcut_norm", make_batch_norm(convolution.outputs, over));
}

at::Tensor ResidualBlock::forward(const at::Tensor& input) {
  // In place wherever backward does not need the overwritten values: saves memory traffic.
  at::Tensor x = norm1_->forward(conv1_->forward(input)).relu_();
  x = norm2_->forward(conv2_->forward(x));
  x.add_(shortcut_ ? shortcut_norm_->forward(shortcut_->forward(input)) : input);
  return x.relu_();
}

ResNet18::ResNet18(Initializer& initializer, const ResNetOptions& options) : memory_(options.memory) {
  ConvolutionOptions convolution{.inputs = options.channels, .outputs = kStages[0], .memory = memory_};
  stem_ = register_module("stem", std::make_shared<Convolution>(initializer, convolution));
  stem_norm_ = register_module("stem_norm", make_batch_norm(kStages[0], options.norm_over));
  auto stages = register_module("stages", std::make_shared<torch::nn::ModuleListImpl>());
  convolution.inputs = kStages[0];
  for (const std::int64_t channels : kStages) {
    auto stage = std::make_shared<torch::nn::ModuleListImpl>();
    for (int block = 0; block < kBlocksPerStage; ++block) {
      convolution.outputs = channels;
      convolution.stride = convolution.inputs == channels ? 1 : 2;
      blocks_.push_back(std::make_shared<ResidualBlock>(initializer, convolution, options.norm_over));
      stage->push_back(blocks_.back());
      convolution.inputs = channels;
    }
    stages->push_back(stage);
  }
  dropout_ = register_module("dropout", Dropout(options.dropout));
  head_ = register_module("head", uniform_linear(initializer, convolution.outputs, options.classes));
}

at::Tensor ResNet18::forward(const at::Tensor& input) {
  at::Tensor x = as_images(input, stem_->dtype(), memory_);
  x = stem_norm_->forward(stem_->forward(x)).relu_();
  for (const auto& block : blocks_) x = block->forward(x);
  x = x.mean({2, 3});
  return head_->forward(dropout_->forward(x));
}

}  // namespace cohort::model

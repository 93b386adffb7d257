#include "model/layers.h"

#include <ATen/ATen.h>
#include <cmath>
#include <utility>

namespace cohort::model {
namespace {

constexpr double kBatchNormMomentum = 0.1;
constexpr double kBatchNormEps = 1e-5;

}  // namespace

at::Tensor activate(Activation activation, at::Tensor input) {
  switch (activation) {
    case Activation::kRelu:
      return input.relu_();
    case Activation::kTanh:
      return input.tanh_();
    case Activation::kGelu:
      break;
  }
  return at::gelu(input);
}

at::Tensor as_images(const at::Tensor& input, at::ScalarType dtype, Memory memory) {
  const at::Tensor images = (input.dim() == 3 ? input.unsqueeze(1) : input).to(dtype);
  return memory == Memory::kChannelsLast ? images.contiguous(at::MemoryFormat::ChannelsLast) : images;
}

Linear::Linear(at::Tensor weight, at::Tensor bias) {
  weight_ = register_parameter("weight", std::move(weight));
  if (bias.defined()) bias_ = register_parameter("bias", std::move(bias));
}

at::Tensor Linear::forward(const at::Tensor& input) {
  return at::linear(input, weight_, bias_);
}

std::shared_ptr<Linear> uniform_linear(Initializer& initializer, std::int64_t inputs, std::int64_t outputs) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  at::Tensor weight = initializer.uniform({outputs, inputs}, bound);
  return std::make_shared<Linear>(std::move(weight), initializer.uniform({outputs}, bound));
}

std::shared_ptr<Linear> normal_linear(Initializer& initializer, std::int64_t inputs, std::int64_t outputs,
                                      double deviation) {
  return std::make_shared<Linear>(initializer.normal({outputs, inputs}, deviation), at::Tensor());
}

Convolution::Convolution(Initializer& initializer, const ConvolutionOptions& options)
    : stride_(options.stride), padding_(options.kernel / 2) {
  const std::int64_t inputs = options.inputs * options.kernel * options.kernel;
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  at::Tensor weight =
      initializer.uniform({options.outputs, options.inputs, options.kernel, options.kernel}, bound);
  if (options.memory == Memory::kChannelsLast) weight = weight.contiguous(at::MemoryFormat::ChannelsLast);
  weight_ = register_parameter("weight", std::move(weight));
  if (options.bias == Bias::kWithBias) {
    bias_ = register_parameter("bias", initializer.uniform({options.outputs}, bound));
  }
}

at::Tensor Convolution::forward(const at::Tensor& input) {
  return at::conv2d(input, weight_, bias_, {stride_, stride_}, at::IntArrayRef{padding_, padding_});
}

BatchNorm::BatchNorm(std::int64_t channels) {
  weight_ = register_parameter("weight", at::ones({channels}));
  bias_ = register_parameter("bias", at::zeros({channels}));
  mean_ = register_buffer("running_mean", at::zeros({channels}));
  variance_ = register_buffer("running_var", at::ones({channels}));
}

double BatchNorm::momentum() const {
  return other_momentum_.value_or(kBatchNormMomentum);
}

at::Tensor BatchNorm::forward(const at::Tensor& input) {
  return at::batch_norm(input, weight_, bias_, mean_, variance_, is_training(), momentum(), kBatchNormEps,
                        /*cudnn_enabled=*/false);
}

at::Tensor BatchNormOverRanks::forward(const at::Tensor& input) {
  return normalised(input, {.weight = weight_,
                            .bias = bias_,
                            .running_mean = mean_,
                            .running_var = variance_,
                            .eps = kBatchNormEps,
                            .momentum = momentum(),
                            .is_training = is_training()});
}

std::shared_ptr<BatchNorm> make_batch_norm(std::int64_t channels, NormOver over) {
  if (over == NormOver::kRanks) return std::make_shared<BatchNormOverRanks>(channels);
  return std::make_shared<BatchNorm>(channels);
}

LayerNorm::LayerNorm(std::int64_t width) {
  weight_ = register_parameter("weight", at::ones({width}));
}

at::Tensor LayerNorm::forward(const at::Tensor& input) {
  return at::layer_norm(input, weight_.sizes(), weight_, {}, /*eps=*/1e-5);
}

}  // namespace cohort::model

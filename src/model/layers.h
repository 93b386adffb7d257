#pragma once

#include "model/initializer.h"

#include <cstdint>
#include <memory>
#include <torch/nn/module.h>

// The layers that models are made of. Their parameters come from an Initializer, weight first, bias second.

namespace cohort::model {

enum class Activation { kRelu, kGelu, kTanh };
enum class Bias { kNone, kWithBias };
enum class Memory { kContiguous, kChannelsLast };

/// Works in place where the gradient needs the result alone: nobody else may hold `input`.
at::Tensor activate(Activation activation, at::Tensor input);

/// Images as a network of convolutions takes them: samples × channels × height × width in the memory format
/// and the kind of number it wants. Grey images may come without the dimension of channels.
at::Tensor as_images(const at::Tensor& input, at::ScalarType dtype, Memory memory);

/// y = W x + b.
class Linear : public torch::nn::Module {
 public:
  /// `bias` may be undefined: then there is none.
  Linear(at::Tensor weight, at::Tensor bias);
  at::Tensor forward(const at::Tensor& input);
  at::ScalarType dtype() const { return weight_.scalar_type(); }

 private:
  at::Tensor weight_, bias_;
};

/// Weight and bias uniform within ±1/√inputs.
std::shared_ptr<Linear> uniform_linear(Initializer& initializer, std::int64_t inputs, std::int64_t outputs);
/// Normal weights, no bias.
std::shared_ptr<Linear> normal_linear(Initializer& initializer, std::int64_t inputs, std::int64_t outputs,
                                      double deviation);

struct ConvolutionOptions {
  std::int64_t inputs = 1;  ///< channels
  std::int64_t outputs = 1;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  Bias bias = Bias::kNone;
  Memory memory = Memory::kContiguous;
};

/// A square convolution, padded such that with stride 1 the image keeps its size. Uniform within ±1/√(inputs
/// of an output).
class Convolution : public torch::nn::Module {
 public:
  Convolution(Initializer& initializer, const ConvolutionOptions& options);
  at::Tensor forward(const at::Tensor& input);
  at::ScalarType dtype() const { return weight_.scalar_type(); }

 private:
  at::Tensor weight_, bias_;
  std::int64_t stride_, padding_;
};

/// Batch normalisation over the samples of one forward; remembers running statistics for eval(). Both are of
/// the samples this module saw, not of other ranks'.
class BatchNorm : public torch::nn::Module {
 public:
  explicit BatchNorm(std::int64_t channels);
  at::Tensor forward(const at::Tensor& input);

 private:
  at::Tensor weight_, bias_, mean_, variance_;
};

/// Layer normalisation over the last dimension, scaled by a weight, without a bias.
class LayerNorm : public torch::nn::Module {
 public:
  explicit LayerNorm(std::int64_t width);
  at::Tensor forward(const at::Tensor& input);

 private:
  at::Tensor weight_;
};

}  // namespace cohort::model

#pragma once

#include "model/initializer.h"
#include "nn/running_statistics.h"
#include <cohort/batch_norm.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <torch/nn/module.h>

// The layers of the models. Their parameters come from an Initializer: first the weight, then the bias.

namespace cohort::model {

enum class Activation { kRelu, kGelu, kTanh };
enum class Bias { kNone, kWithBias };
enum class Memory { kContiguous, kChannelsLast };

/// Works in place if backward needs only the result: the caller must not use `input` afterwards.
at::Tensor activate(Activation activation, at::Tensor input);

/// Converts images to samples × channels × height × width, in the given type and memory format. Grey images
/// may lack the dimension of channels.
at::Tensor as_images(const at::Tensor& input, at::ScalarType dtype, Memory memory);

/// y = W x + b.
class Linear : public torch::nn::Module {
 public:
  /// An undefined `bias` means a layer without a bias.
  Linear(at::Tensor weight, at::Tensor bias);
  at::Tensor forward(const at::Tensor& input);
  at::ScalarType dtype() const { return weight_.scalar_type(); }

 private:
  at::Tensor weight_, bias_;
};

/// A layer with weight and bias uniform in ±1/√inputs.
std::shared_ptr<Linear> uniform_linear(Initializer& initializer, std::int64_t inputs, std::int64_t outputs);
/// A layer with normal weights and no bias.
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

/// A convolution with a square kernel, padded so that with stride 1 the image keeps its size. Parameters are
/// uniform in ±1/√(inputs of an output).
class Convolution : public torch::nn::Module {
 public:
  Convolution(Initializer& initializer, const ConvolutionOptions& options);
  at::Tensor forward(const at::Tensor& input);
  at::ScalarType dtype() const { return weight_.scalar_type(); }

 private:
  at::Tensor weight_, bias_;
  std::int64_t stride_, padding_;
};

/// The samples that batch normalisation is over, in training.
enum class NormOver {
  kBatch,  ///< those of one forward
  kRanks,  ///< those of one forward of each rank
};

/// Batch normalisation, with running statistics for eval().
class BatchNorm : public torch::nn::Module, public nn::RunningStatistics {
 public:
  explicit BatchNorm(std::int64_t channels);
  virtual at::Tensor forward(const at::Tensor& input);

  at::Tensor running_mean() const override { return mean_; }
  at::Tensor running_var() const override { return variance_; }
  void set_momentum(std::optional<double> momentum) override { other_momentum_ = momentum; }

 protected:
  double momentum() const;

  at::Tensor weight_, bias_, mean_, variance_;

 private:
  std::optional<double> other_momentum_{};
};

/// The same over the samples of all ranks.
class BatchNormOverRanks : public BatchNorm, public nn::SynchronisedLayer {
 public:
  using BatchNorm::BatchNorm;
  at::Tensor forward(const at::Tensor& input) override;
};

std::shared_ptr<BatchNorm> make_batch_norm(std::int64_t channels, NormOver over);

/// Layer normalisation over the last dimension, scaled by a weight, without a bias.
class LayerNorm : public torch::nn::Module {
 public:
  explicit LayerNorm(std::int64_t width);
  at::Tensor forward(const at::Tensor& input);

 private:
  at::Tensor weight_;
};

}  // namespace cohort::model

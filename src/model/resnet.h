#pragma once

#include "model/layers.h"
#include "model/model.h"

#include <cohort/dropout.h>
#include <cstdint>
#include <memory>
#include <vector>

namespace cohort::model {

/// Two convolutions of 3 × 3 with a residual connection, which is a convolution of 1 × 1 if the shape
/// changes.
class ResidualBlock : public torch::nn::Module {
 public:
  /// `convolution` describes the first convolution.
  ResidualBlock(Initializer& initializer, const ConvolutionOptions& convolution, NormOver over);
  at::Tensor forward(const at::Tensor& input);

 private:
  std::shared_ptr<Convolution> conv1_, conv2_, shortcut_;
  std::shared_ptr<BatchNorm> norm1_, norm2_, shortcut_norm_;
};

struct ResNetOptions {
  std::int64_t channels = 3;
  std::int64_t classes = 0;
  double dropout = 0;  ///< before the last layer
  Memory memory = Memory::kContiguous;
  NormOver norm_over = NormOver::kBatch;
};

/// ResNet-18 for small images (32 × 32): a stem of one 3 × 3 convolution without pooling, four stages of two
/// blocks with 64, 128, 256 and 512 channels, of which all but the first halve the image, and a global mean.
class ResNet18 : public Model {
 public:
  ResNet18(Initializer& initializer, const ResNetOptions& options);
  at::Tensor forward(const at::Tensor& input) override;

 private:
  std::shared_ptr<Convolution> stem_;
  std::shared_ptr<BatchNorm> stem_norm_;
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;
  Dropout dropout_{nullptr};
  std::shared_ptr<Linear> head_;
  Memory memory_;
};

}  // namespace cohort::model

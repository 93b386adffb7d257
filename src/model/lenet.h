#pragma once

#include "model/layers.h"
#include "model/model.h"

#include <array>
#include <cohort/dropout.h>
#include <cstdint>
#include <memory>

namespace cohort::model {

struct ImageShape {
  std::int64_t channels = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

struct LeNetOptions {
  ImageShape image{};  ///< at least 4 × 4
  std::int64_t classes = 0;
  Activation activation = Activation::kRelu;
  double dropout = 0;  ///< before the last layer
  Memory memory = Memory::kContiguous;
};

/// Two convolutions of 5 × 5 with 16 and 32 channels, each followed by max pooling of 2 × 2, then a hidden
/// linear layer of width 128 and the output layer.
class LeNet : public Model {
 public:
  LeNet(Initializer& initializer, const LeNetOptions& options);
  at::Tensor forward(const at::Tensor& input) override;

 private:
  std::array<std::shared_ptr<Convolution>, 2> convolutions_;
  std::array<std::shared_ptr<Linear>, 2> layers_;
  Dropout dropout_{nullptr};
  Activation activation_;
  Memory memory_;
};

}  // namespace cohort::model

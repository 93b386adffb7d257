#pragma once

#include "model/layers.h"
#include "model/model.h"

#include <cohort/dropout.h>
#include <cstdint>
#include <memory>
#include <vector>

namespace cohort::model {

struct PerceptronOptions {
  std::vector<std::int64_t> widths{};  ///< widths of the input, of every hidden layer, and of the output
  Activation activation = Activation::kRelu;
  double dropout = 0;  ///< after every activation
};

/// Linear layers with activations between them. Without a hidden layer this is linear, logistic or softmax
/// regression, depending on the loss.
class Perceptron : public Model {
 public:
  Perceptron(Initializer& initializer, const PerceptronOptions& options);
  at::Tensor forward(const at::Tensor& input) override;

 private:
  std::vector<std::shared_ptr<Linear>> layers_;
  std::vector<Dropout> dropouts_;
  Activation activation_;
};

}  // namespace cohort::model

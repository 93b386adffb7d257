#pragma once

#include "base/result.h"
#include "config/config.h"
#include "data/facts.h"

#include <cstdint>
#include <memory>
#include <torch/nn/module.h>

namespace cohort {

/// A model that a job file names.
class Model : public torch::nn::Module {
 public:
  /// From inputs stacked along the first dimension to outputs (logits, where there are classes). Values may
  /// be of any kind of number; they are converted to that of the parameters.
  virtual at::Tensor forward(const at::Tensor& input) = 0;
};

/// Builds the model that `config` names for the data that `facts` describes; its parameters are a pure
/// function of the arguments, in every process the same bits.
///
/// | kind     | for                  | parameters                                                          |
/// |----------|----------------------|---------------------------------------------------------------------|
/// | linear   | regression           | layers.0.{weight,bias}                                              |
/// | logistic | two classes          | the same, one output                                                |
/// | softmax  | classes              | the same                                                            |
/// | mlp      | regression, classes  | layers.N.{weight,bias}                                              |
/// | lenet    | classes of images    | convolutions.{0,1}.{weight,bias}, layers.{0,1}.{weight,bias}        |
/// | resnet18 | classes of images    | stem, stem_norm, stages.S.B.{conv1,norm1,conv2,norm2,shortcut…}, head
/// | | gpt      | tokens               | tokens, positions, blocks.N.{attention,mlp,…}, norm |
///
/// Failure: kUsage where the model does not fit the data or itself.
Result<std::shared_ptr<Model>> make_model(const ModelConfig& config, const DataFacts& facts,
                                          std::uint64_t seed);

}  // namespace cohort

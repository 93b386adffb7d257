#pragma once

#include "base/result.h"
#include "config/config.h"
#include "data/facts.h"

#include <cohort/model.h>
#include <cstdint>
#include <memory>

namespace cohort {

/// Builds the model that `config` names, for the data that `facts` describes. Its parameters are a pure
/// function of the arguments: every process gets the same bits.
///
/// | kind     | for                 | parameters                                                   |
/// |----------|---------------------|--------------------------------------------------------------|
/// | linear   | regression          | layers.0.{weight,bias}                                       |
/// | logistic | two classes         | the same, one output                                         |
/// | softmax  | classes             | the same                                                     |
/// | mlp      | regression, classes | layers.N.{weight,bias}                                       |
/// | lenet    | classes of images   | convolutions.{0,1}.{weight,bias}, layers.{0,1}.{weight,bias} |
/// | resnet18 | classes of images   | stem, stem_norm, head, stages.S.B.{conv1,norm1,conv2,norm2}, |
/// |          |                     | stages.S.0.{shortcut,shortcut_norm}                          |
/// | gpt      | tokens              | tokens, positions, blocks.N.{attention,mlp,…}, norm          |
///
/// Failure: kUsage if the model does not fit the data, or its settings do not fit each other.
Result<std::shared_ptr<Model>> make_model(const ModelConfig& config, const DataFacts& facts,
                                          std::uint64_t seed);

}  // namespace cohort

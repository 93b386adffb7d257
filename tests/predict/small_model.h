#pragma once

#include "data/open.h"
#include "model/job_facts.h"
#include <cohort/model_file.h>

#include <string>

namespace cohort::test {

inline ModelConfig mlp_config() {
  return {.kind = "mlp",
          .hidden = {5, 3},
          .activation = "tanh",
          .dropout = 0.25,
          .layers = 1,
          .width = 4,
          .heads = 1};
}

/// Facts as `cohort train` writes them for an mlp on rows of two named columns and three classes.
inline ModelFacts mlp_facts() {
  OpenedData data;
  data.facts = {.input_shape = {2}, .classes = 3, .outputs = 3};
  data.vocabulary = {"ape", "bee", "cat"};
  data.source = {.features = {"x", "y"}, .target = "animal", .scales = {{1, 2}, {10, 5}}};
  return facts_of(mlp_config(), data);
}

/// A model of text with three letters and a context of four.
inline LoadedModel small_gpt() {
  OpenedData data;
  data.facts = {.input_shape = {4}, .input_dtype = DType::kI64, .outputs = 3, .vocabulary = 3, .context = 4};
  data.vocabulary = {"a", "b", "c"};
  data.source.tokens = "char";
  const ModelConfig config{.kind = "gpt", .activation = "relu", .layers = 1, .width = 8, .heads = 2};
  LoadedModel model{.module = nullptr, .facts = facts_of(config, data)};
  model.module = value_or_throw(make_model(model.facts));
  model.module->eval();
  return model;
}

}  // namespace cohort::test

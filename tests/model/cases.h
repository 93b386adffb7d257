#pragma once

#include "model/loss.h"
#include "model/model.h"

#include <ATen/ATen.h>
#include <cohort/random.h>
#include <cohort/tensor.h>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace cohort {

/// A small model of a kind, with data to give it.
struct ModelCase {
  std::string name;
  ModelConfig config;
  DataFacts facts;
};

inline ModelConfig model_config(std::string kind) {
  ModelConfig config;
  config.kind = std::move(kind);
  config.activation = "relu";
  return config;
}

inline ModelCase gpt_case() {
  ModelConfig config = model_config("gpt");
  config.layers = 2;
  config.width = 12;
  config.heads = 3;
  return {"gpt", config, {.input_shape = {7}, .input_dtype = DType::kI64, .vocabulary = 11, .context = 9}};
}

inline ModelCase mlp_case(std::string name, std::string activation, DataFacts facts) {
  ModelConfig config = model_config("mlp");
  config.hidden = {7, 4};
  config.activation = std::move(activation);
  return {std::move(name), config, std::move(facts)};
}

inline ModelCase image_case(std::string name, std::string kind, DataFacts facts, bool channels_last) {
  ModelConfig config = model_config(std::move(kind));
  config.channels_last = channels_last;
  return {std::move(name), config, std::move(facts)};
}

/// Every kind, with every activation and memory format.
inline std::vector<ModelCase> model_cases() {
  const DataFacts numbers{.input_shape = {5}, .outputs = 3};
  const DataFacts two{.input_shape = {5}, .classes = 2};
  const DataFacts three{.input_shape = {2, 3}, .classes = 3};
  const DataFacts grey{.input_shape = {9, 11}, .classes = 3};
  const DataFacts colour{.input_shape = {3, 16, 16}, .classes = 3};
  return {{"linear", model_config("linear"), numbers},
          {"logistic", model_config("logistic"), two},
          {"softmax", model_config("softmax"), three},
          mlp_case("mlp_relu", "relu", three),
          mlp_case("mlp_gelu", "gelu", three),
          mlp_case("mlp_tanh", "tanh", numbers),
          image_case("lenet", "lenet", grey, false),
          image_case("lenet_channels_last", "lenet", colour, true),
          image_case("resnet18", "resnet18", colour, false),
          image_case("resnet18_channels_last", "resnet18", colour, true),
          gpt_case()};
}

inline at::Tensor whole_numbers(std::vector<std::int64_t> shape, std::int64_t limit, std::uint64_t seed) {
  at::Tensor tensor = at::empty(shape, at::kLong);
  std::int64_t* out = tensor.mutable_data_ptr<std::int64_t>();
  const RandomStream stream(seed, 1);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    out[i] = static_cast<std::int64_t>(
        stream.below(static_cast<std::uint64_t>(limit), static_cast<std::uint64_t>(i)));
  return tensor;
}

inline at::Tensor numbers_of(std::vector<std::int64_t> shape, std::uint64_t seed) {
  at::Tensor tensor = at::empty(shape);
  fill_normal(tensor, RandomStream(seed, 2), 0, 1);
  return tensor;
}

/// A batch of the shape that the facts describe.
inline Batch batch_for(const DataFacts& facts, std::int64_t samples, std::uint64_t seed = 5) {
  std::vector<std::int64_t> shape{samples};
  shape.insert(shape.end(), facts.input_shape.begin(), facts.input_shape.end());
  Batch batch;
  batch.samples.resize(static_cast<std::size_t>(samples));
  std::iota(batch.samples.begin(), batch.samples.end(), std::int64_t{100});
  if (facts.vocabulary > 0) {
    batch.input = whole_numbers(shape, facts.vocabulary, seed);
    batch.target = whole_numbers(shape, facts.vocabulary, seed + 1);
    return batch;
  }
  batch.input = numbers_of(shape, seed);
  batch.target = facts.classes > 0 ? whole_numbers({samples}, facts.classes, seed + 1)
                                   : numbers_of({samples, facts.outputs}, seed + 1);
  return batch;
}

}  // namespace cohort

#include "predict/along_first_dim.h"
#include <cohort/error.h>
#include <cohort/predict.h>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort {
namespace {

Prediction prediction_of(const ModelFacts& facts, const at::Tensor& probabilities) {
  const auto* first = probabilities.const_data_ptr<double>();
  Prediction prediction{.outputs = {first, first + probabilities.numel()}};
  prediction.class_index = probabilities.argmax().item<std::int64_t>();
  const auto index = static_cast<std::size_t>(prediction.class_index);
  prediction.class_name = facts.classes[index];
  prediction.probability = prediction.outputs[index];
  return prediction;
}

// Samples × classes: the probability of each class.
at::Tensor probabilities_of(const ModelFacts& facts, const at::Tensor& rows) {
  const auto classes = static_cast<std::int64_t>(facts.classes.size());
  if (rows.size(1) == 1 && classes == 2) {
    const at::Tensor second = rows.sigmoid();
    return at::cat({1 - second, second}, 1);
  }
  if (rows.size(1) != classes) {
    throw UsageError(
        fmt::format("the output has {} numbers for each sample, expected one for each of {} classes",
                    rows.size(1), classes));
  }
  return rows.softmax(1);
}

}  // namespace

at::Tensor predict::along_first_dim(const std::vector<double>& numbers, std::size_t sample_dims) {
  const at::Tensor tensor = at::tensor(numbers, at::kDouble);
  if (numbers.size() == 1) return tensor;
  std::vector<std::int64_t> shape(sample_dims + 1, 1);
  shape[1] = static_cast<std::int64_t>(numbers.size());
  return tensor.view(shape);
}

at::Tensor normalised(const ModelFacts& facts, const at::Tensor& raw) {
  if (raw.dim() == 0 || raw.sizes().slice(1) != at::IntArrayRef(facts.input_shape)) {
    throw UsageError(
        fmt::format("inputs of shape [{}] do not fit the model, which takes samples of shape [{}]",
                    fmt::join(raw.sizes(), ", "), fmt::join(facts.input_shape, ", ")));
  }
  if (facts.mean.empty()) return raw.to(at::kFloat);
  const at::Tensor mean = predict::along_first_dim(facts.mean, facts.input_shape.size());
  const at::Tensor deviation = predict::along_first_dim(facts.deviation, facts.input_shape.size());
  return ((raw.to(at::kDouble) - mean) / deviation).to(at::kFloat);
}

std::vector<Prediction> predictions(const ModelFacts& facts, const at::Tensor& output) {
  if (!facts.vocabulary.empty()) throw UsageError("a model of text is used with cohort::generate()");
  if (output.dim() == 0 || output.size(0) == 0) return {};
  const at::Tensor rows = output.detach().to(at::kDouble).reshape({output.size(0), -1}).contiguous();
  std::vector<Prediction> all;
  if (facts.classes.empty()) {
    for (const at::Tensor& row : rows.unbind(0)) {
      const auto* first = row.const_data_ptr<double>();
      all.push_back({.outputs = {first, first + row.numel()}});
    }
    return all;
  }
  for (const at::Tensor& row : probabilities_of(facts, rows).contiguous().unbind(0)) {
    all.push_back(prediction_of(facts, row));
  }
  return all;
}

}  // namespace cohort

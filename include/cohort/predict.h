#pragma once

#include <cohort/export.h>
#include <cohort/model_file.h>

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort {

/// Inputs as the model was trained on them, from raw numbers: (raw − mean) / deviation, as f32. `raw` has
/// samples along the first dimension.
///
/// Failure: throws UsageError if the samples have another shape than `facts.input_shape`.
COHORT_EXPORT at::Tensor normalised(const ModelFacts& facts, const at::Tensor& raw);

/// The prediction of a model for one sample.
struct Prediction {
  std::int64_t class_index = 0;   ///< if there are classes: the most probable class
  std::string class_name{};       ///< the name of that class
  double probability = 0;         ///< the probability of that class
  std::vector<double> outputs{};  ///< the probability of each class, or the predicted numbers
};

/// The predictions in the output of a model, one for each sample. Logits become probabilities.
///
/// Failure: throws UsageError if the output does not fit the facts, as for text, which generate() continues.
COHORT_EXPORT std::vector<Prediction> predictions(const ModelFacts& facts, const at::Tensor& output);

/// How tokens are drawn.
struct SamplingOptions {
  std::int64_t tokens = 100;            ///< how many
  double temperature = 1;               ///< logits are divided by it; 0: always the most probable token
  std::optional<std::int64_t> top_k{};  ///< only the k most probable tokens are drawn; none: all
  std::uint64_t seed = 1;               ///< the same seed gives the same text
};

/// The text that the model puts after `prompt`, without the prompt.
///
/// Failure: throws UsageError for an empty prompt, a character that is not in the vocabulary, or a model that
/// is not one of text.
COHORT_EXPORT std::string generate(const LoadedModel& model, std::string_view prompt,
                                   const SamplingOptions& options = {});

}  // namespace cohort

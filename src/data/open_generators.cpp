#include "data/digits.h"
#include "data/markov.h"
#include "data/openers.h"
#include "data/points.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <numeric>

namespace cohort::data {
namespace {

constexpr int kMostLetters = 1024;  // memory grows with the square

GeneratedRange train_range(const DataConfig& config, std::uint64_t seed) {
  return {seed, 0, config.samples};
}
GeneratedRange test_range(const DataConfig& config, std::uint64_t seed) {
  return {seed, kFirstTestSample, config.test_samples};
}

Status no_scaling(const DataConfig& config) {
  if (!config.normalize) return {};
  return bad_key("normalize",
                 fmt::format("is set, but the generator '{}' makes numbers of a fixed scale", config.kind),
                 "Leave it out.");
}

Status check_range(std::string_view key, int value, int least, int most) {
  if (value >= least && value <= most) return {};
  return bad_key(key, fmt::format("is {}", value), fmt::format("Give {} to {}.", least, most));
}

// Computed from the first 256 images: all images have the same distribution.
Scale scale_of_digits(GeneratedRange range, const DigitsOptions& options) {
  std::vector<std::int64_t> some(static_cast<std::size_t>(std::min<std::int64_t>(range.count, 256)));
  std::iota(some.begin(), some.end(), 0);
  const Batch batch = DigitsDataset(range, options).batch(some);
  return scale_of({batch.input.const_data_ptr<float>(), static_cast<std::size_t>(batch.input.numel())});
}

}  // namespace

Result<OpenedData> open_digits(const DataConfig& config, std::uint64_t seed) {
  COHORT_RETURN_IF_ERROR(check_range("classes", config.classes, 2, 10));
  COHORT_RETURN_IF_ERROR(check_range("image_size", config.image_size, 8, 1024));
  DigitsOptions options{.image_size = config.image_size, .classes = config.classes, .noise = config.noise};
  if (config.normalize) options.scale = scale_of_digits(train_range(config, seed), options);
  OpenedData opened;
  opened.train = std::make_shared<DigitsDataset>(train_range(config, seed), options);
  opened.test = std::make_shared<DigitsDataset>(test_range(config, seed), options);
  opened.facts = {.input_shape = {1, config.image_size, config.image_size},
                  .classes = config.classes,
                  .outputs = config.classes,
                  .description = fmt::format("drawn digits of {0} × {0}, {1} classes", config.image_size,
                                             config.classes)};
  opened.source = {.scales = {options.scale}, .white = 1.0};
  return opened;
}

Result<OpenedData> open_spirals(const DataConfig& config, std::uint64_t seed) {
  COHORT_RETURN_IF_ERROR(no_scaling(config));
  COHORT_RETURN_IF_ERROR(check_range("classes", config.classes, 2, 65536));
  OpenedData opened;
  opened.train = std::make_shared<SpiralsDataset>(train_range(config, seed), config.classes, config.noise);
  opened.test = std::make_shared<SpiralsDataset>(test_range(config, seed), config.classes, config.noise);
  opened.facts = {.input_shape = {2},
                  .classes = config.classes,
                  .outputs = config.classes,
                  .description = fmt::format("points on spirals, {} classes", config.classes)};
  return opened;
}

Result<OpenedData> open_regression(const DataConfig& config, std::uint64_t seed) {
  COHORT_RETURN_IF_ERROR(no_scaling(config));
  COHORT_RETURN_IF_ERROR(check_range("features", config.features, 1, 1'000'000));
  OpenedData opened;
  opened.train =
      std::make_shared<RegressionDataset>(train_range(config, seed), config.features, config.noise);
  opened.test = std::make_shared<RegressionDataset>(test_range(config, seed), config.features, config.noise);
  opened.facts = {.input_shape = {config.features},
                  .outputs = 1,
                  .description = fmt::format("a linear law of {} numbers", config.features)};
  return opened;
}

Result<OpenedData> open_markov(const DataConfig& config, std::uint64_t seed) {
  COHORT_RETURN_IF_ERROR(no_scaling(config));
  COHORT_RETURN_IF_ERROR(check_range("classes", config.classes, 2, kMostLetters));
  COHORT_RETURN_IF_ERROR(check_range("context", config.context, 1, 65536));
  const auto train =
      std::make_shared<MarkovDataset>(train_range(config, seed), config.classes, config.context);
  OpenedData opened;
  opened.train = train;
  opened.test = std::make_shared<MarkovDataset>(test_range(config, seed), config.classes, config.context);
  opened.vocabulary = train->vocabulary();
  opened.source.tokens = "char";
  opened.facts = {.input_shape = {config.context},
                  .input_dtype = DType::kI64,
                  .outputs = config.classes,
                  .vocabulary = config.classes,
                  .context = config.context,
                  .description = fmt::format(
                      "text of a chain of {} letters, {} per sample; no model gets below a loss of {:.4f}",
                      config.classes, config.context, train->entropy())};
  return opened;
}

}  // namespace cohort::data

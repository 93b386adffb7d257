#include "bench_step.h"

#include <cohort/error.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <numeric>

namespace cohort::tool {
namespace {

BenchModel perceptron(std::int64_t inputs, std::vector<int> hidden, std::int64_t classes) {
  return {.config = {.kind = "mlp", .hidden = std::move(hidden), .activation = "relu"},
          .facts = {.input_shape = {inputs}, .classes = classes, .outputs = classes}};
}

std::vector<std::int64_t> with_samples(std::int64_t samples, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> whole{samples};
  whole.insert(whole.end(), shape.begin(), shape.end());
  return whole;
}

}  // namespace

BenchModel bench_model(const std::string& name) {
  if (name == "mlp") return perceptron(784, {3200, 3200, 3200}, 10);
  if (name == "wide") return perceptron(8000, {}, 8000);
  if (name == "many") return perceptron(8, std::vector<int>(2999, 8), 8);
  if (name == "tiny") return perceptron(13, {31, 17}, 3);
  if (name == "gpt") {
    return {.config = {.kind = "gpt", .layers = 6, .width = 384, .heads = 6},
            .facts = {.input_shape = {256}, .input_dtype = DType::kI64, .vocabulary = 65, .context = 256}};
  }
  if (name == "resnet18") {  // channels last as in every job that does not ask for something else
    return {.config = {.kind = "resnet18", .channels_last = true},
            .facts = {.input_shape = {3, 32, 32}, .classes = 10, .outputs = 10}};
  }
  throw UsageError(fmt::format("there is no model '{}' to measure", name));
}

Batch random_batch(const DataFacts& facts, std::int64_t samples, std::uint64_t seed) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  const auto shape = with_samples(samples, facts.input_shape);
  Batch batch;
  if (facts.vocabulary > 0) {
    batch.input = at::randint(facts.vocabulary, shape, generator, at::kLong);
    batch.target = at::randint(facts.vocabulary, shape, generator, at::kLong);
  } else {
    batch.input = at::randn(shape, generator, at::kFloat);
    batch.target = at::randint(facts.classes, {samples}, generator, at::kLong);
  }
  batch.samples.resize(static_cast<std::size_t>(samples));
  std::iota(batch.samples.begin(), batch.samples.end(), 0);
  return batch;
}

}  // namespace cohort::tool

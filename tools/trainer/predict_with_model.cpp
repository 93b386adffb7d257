#include "job/model_data.h"
#include "observe/json_text.h"
#include "records/csv_columns.h"
#include "storage/local_file_system.h"
#include "use_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iostream>

namespace cohort::tool {
namespace {

using Json = nlohmann::ordered_json;
using job::Inputs;

void refuse_option(bool is_given, const char* option, const ModelFacts& facts) {
  if (!is_given) return;
  throw UsageError(
      fmt::format("{} does not apply: a model of kind '{}' {}", option, facts.kind,
                  facts.vocabulary.empty() ? "draws no text" : "takes a prompt, not a file of samples"));
}

// The predictions for all samples, a few at a time.
std::vector<Prediction> predict_all(const LoadedModel& model, const at::Tensor& raw) {
  constexpr std::int64_t kAtOnce = 256;
  const at::NoGradGuard no_grad;
  std::vector<Prediction> all;
  for (std::int64_t first = 0; first < raw.size(0); first += kAtOnce) {
    const at::Tensor some = raw.narrow(0, first, std::min(kAtOnce, raw.size(0) - first));
    for (Prediction& each : predictions(model.facts, model.module->forward(normalised(model.facts, some)))) {
      all.push_back(std::move(each));
    }
  }
  return all;
}

void choose(Inputs& inputs, std::int64_t index, const std::string& path) {
  if (index < 0 || index >= inputs.raw.size(0)) {
    throw UsageError(
        fmt::format("--index {}: '{}' has {} samples, counted from 0", index, path, inputs.raw.size(0)));
  }
  inputs.raw = inputs.raw.narrow(0, index, 1);
  inputs.cells = {inputs.cells[static_cast<std::size_t>(index)]};
}

std::string number_text(double number) {
  return fmt::format("{}", static_cast<float>(number));
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::vector<std::string> written;
  for (const std::string& cell : cells) written.push_back(records::csv_cell(cell));
  return fmt::format("{}\n", fmt::join(written, ","));
}

std::vector<std::string> cells_of(const Prediction& prediction, const ModelFacts& facts) {
  if (!facts.classes.empty()) return {prediction.class_name, fmt::format("{:.6g}", prediction.probability)};
  std::vector<std::string> cells;
  for (const double number : prediction.outputs) cells.push_back(number_text(number));
  return cells;
}

// The cells of each sample, followed by the prediction; a header if the input had one.
std::string table_of(const Inputs& inputs, const std::vector<Prediction>& all, const ModelFacts& facts) {
  std::string text;
  if (!inputs.header.empty()) {
    std::vector<std::string> header = inputs.header;
    header.emplace_back("prediction");
    if (!facts.classes.empty()) header.emplace_back("probability");
    text += csv_line(header);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<std::string> cells = inputs.cells[i];
    for (std::string& cell : cells_of(all[i], facts)) cells.push_back(std::move(cell));
    text += csv_line(cells);
  }
  return text;
}

Json json_of(const Prediction& prediction, const ModelFacts& facts) {
  if (facts.classes.empty()) return {{"numbers", prediction.outputs}};
  Json probabilities = Json::object();
  for (std::size_t i = 0; i < facts.classes.size(); ++i)
    probabilities[facts.classes[i]] = prediction.outputs[i];
  return {{"class", prediction.class_name},
          {"probability", prediction.probability},
          {"probabilities", probabilities}};
}

std::string json_of(const PredictOrder& order, const std::vector<Prediction>& all, const ModelFacts& facts) {
  Json each = Json::array();
  for (const Prediction& prediction : all) each.push_back(json_of(prediction, facts));
  return observe::json_text(
      {{"model", order.model}, {"input", order.input}, {"target", facts.target}, {"predictions", each}});
}

void predict_samples(const PredictOrder& order, const LoadedModel& model) {
  refuse_option(order.tokens.has_value(), "--tokens", model.facts);
  refuse_option(order.temperature.has_value(), "--temperature", model.facts);
  refuse_option(order.top_k.has_value(), "--top-k", model.facts);
  refuse_option(order.seed.has_value(), "--seed", model.facts);
  LocalFileSystem files;
  Inputs inputs = value_or_throw(job::read_inputs(files, order.input, model.facts));
  if (order.index) choose(inputs, *order.index, order.input);
  const std::vector<Prediction> all = predict_all(model, inputs.raw);
  std::cout << (order.json ? json_of(order, all, model.facts) : table_of(inputs, all, model.facts))
            << std::flush;
}

void continue_text(const PredictOrder& order, const LoadedModel& model) {
  refuse_option(order.index.has_value(), "--index", model.facts);
  SamplingOptions sampling;
  sampling.tokens = order.tokens.value_or(sampling.tokens);
  sampling.temperature = order.temperature.value_or(sampling.temperature);
  sampling.top_k = order.top_k;
  sampling.seed = order.seed.value_or(sampling.seed);
  const std::string text = generate(model, order.input, sampling);
  std::cout << (order.json ? observe::json_text({{"model", order.model},
                                                 {"prompt", order.input},
                                                 {"text", text},
                                                 {"tokens", sampling.tokens},
                                                 {"seed", sampling.seed}})
                           : order.input + text + "\n")
            << std::flush;
}

}  // namespace

void predict_with_model(const PredictOrder& order) {
  const LoadedModel model = load_model(order.model);
  model.facts.vocabulary.empty() ? predict_samples(order, model) : continue_text(order, model);
}

}  // namespace cohort::tool

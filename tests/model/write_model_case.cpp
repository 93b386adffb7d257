// Writes one model, what it is given and what it makes of it, as safetensors. Usage: write_model_case NAME
// FILE; without arguments the names of the cases, one per line.

#include "model/cases.h"

#include <ATen/Parallel.h>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <map>

namespace {

using cohort::Batch;
using cohort::ModelCase;
using Tensors = std::vector<std::pair<std::string, at::Tensor>>;

std::string safetensors_name(at::ScalarType type) {
  return type == at::kLong ? "I64" : type == at::kDouble ? "F64" : "F32";
}

void write(const std::string& path, const Tensors& tensors,
           const std::map<std::string, std::string>& metadata) {
  std::string header, bytes;
  for (const auto& [key, value] : metadata) {
    header += fmt::format("{}\"{}\":\"{}\"", header.empty() ? "{\"__metadata__\":{" : ",", key, value);
  }
  header += "}";
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor plain = tensor.detach().contiguous();
    const std::size_t first = bytes.size();
    bytes.append(static_cast<const char*>(plain.const_data_ptr()), plain.nbytes());
    header += fmt::format(R"(,"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name,
                          safetensors_name(plain.scalar_type()), fmt::join(plain.sizes().vec(), ","), first,
                          bytes.size());
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = header.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << header << bytes;
}

std::map<std::string, std::string> description(const ModelCase& each) {
  const auto& [name, config, facts] = each;
  return {{"kind", config.kind},
          {"hidden", fmt::format("{}", fmt::join(config.hidden, ","))},
          {"activation", config.activation},
          {"layers", std::to_string(config.layers)},
          {"width", std::to_string(config.width)},
          {"heads", std::to_string(config.heads)},
          {"channels_last", config.channels_last ? "1" : "0"},
          {"input_shape", fmt::format("{}", fmt::join(facts.input_shape, ","))},
          {"classes", std::to_string(facts.classes)},
          {"outputs", std::to_string(facts.outputs)},
          {"vocabulary", std::to_string(facts.vocabulary)},
          {"context", std::to_string(facts.context)}};
}

void write_case(const ModelCase& each, const std::string& path) {
  const auto model = cohort::value_or_throw(cohort::make_model(each.config, each.facts, 9));
  Batch batch = cohort::batch_for(each.facts, 5);
  if (each.config.kind == "resnet18") {
    // Twenty normalised layers: a rounding in f32 turns a relu somewhere, and with it a gradient.
    model->to(at::kDouble);
    batch.input = batch.input.to(at::kDouble);
  }
  const at::Tensor output = model->forward(batch.input);
  const auto evaluation = cohort::judge(cohort::loss_of(each.config, each.facts), output, batch);
  Tensors tensors{
      {"input", batch.input}, {"target", batch.target}, {"output", output}, {"loss", evaluation.loss}};
  for (const auto& item : model->named_parameters())
    tensors.emplace_back("parameter/" + item.key(), item.value());
  evaluation.loss.backward();
  for (const auto& item : model->named_parameters()) {
    tensors.emplace_back("gradient/" + item.key(), item.value().grad());
  }
  for (const auto& item : model->named_buffers()) tensors.emplace_back("buffer/" + item.key(), item.value());
  auto metadata = description(each);
  metadata["correct"] = std::to_string(evaluation.correct);
  write(path, tensors, metadata);
}

}  // namespace

int main(int count, char** arguments) {
  at::set_num_threads(1);
  for (const ModelCase& each : cohort::model_cases()) {
    if (count == 1) std::puts(each.name.c_str());
    if (count == 3 && each.name == arguments[1]) {
      write_case(each, arguments[2]);
      return 0;
    }
  }
  return count == 1 ? 0 : 1;
}

#include "model/job_facts.h"
#include "state/model_facts.h"
#include "state/safetensors.h"
#include "storage/local_file_system.h"
#include "train/model_file.h"
#include "train/module_tensors.h"
#include <cohort/model_file.h>

#include <fmt/format.h>

namespace cohort {
namespace {

Error no_model(const Error& error, const std::string& path) {
  return error.within(fmt::format("'{}' cannot be used as a model", path));
}

SafetensorsFile open_model(const std::string& path) {
  LocalFileSystem files;
  auto file = SafetensorsFile::open(files, path);
  if (!file) raise(no_model(file.error(), path));
  return std::move(*file);
}

}  // namespace

void save_model(const torch::nn::Module& module, const std::string& path, const ModelFacts& facts) {
  LocalFileSystem files;
  const auto metadata = value_or_throw(state::metadata_of(facts));
  value_or_throw(train::write_model(files, path, train::tensors_of(module), metadata));
}

ModelFacts load_model(torch::nn::Module& module, const std::string& path) {
  const SafetensorsFile file = open_model(path);
  auto facts = state::facts_in(file.metadata());
  const bool has_none = !facts && facts.error().code() == ErrorCode::kUsage;
  if (!facts && !has_none) raise(no_model(facts.error(), path));
  value_or_throw(train::read_model(file, path, train::tensors_of(module)));
  return has_none ? ModelFacts{.others = file.metadata()} : std::move(*facts);
}

LoadedModel load_model(const std::string& path) {
  const SafetensorsFile file = open_model(path);
  auto facts = state::facts_in(file.metadata());
  if (!facts) raise(no_model(facts.error(), path));
  auto made = make_model(*facts);
  if (!made) {
    raise(no_model(made.error(), path)
              .with_remedy("Load a module of your own with cohort::load_model(module, path)."));
  }
  value_or_throw(train::read_model(file, path, train::tensors_of(**made)));
  (*made)->eval();
  return {.module = std::move(*made), .facts = std::move(*facts)};
}

}  // namespace cohort

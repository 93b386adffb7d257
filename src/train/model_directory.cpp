#include "train/model_directory.h"

#include "state/model_facts.h"
#include "state/run_directory.h"
#include "state/safetensors.h"
#include "storage/path.h"
#include "train/keep_model.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace cohort::train {
namespace {

constexpr std::chrono::hours kLongestWrite{24};

}  // namespace

// Their steps were not taken in the run that goes on. A file that cannot be read stays: it is replaced.
std::vector<std::string_view> ModelDirectory::models_after(std::int64_t step) {
  std::vector<std::string_view> later;
  for (const std::string_view name : {kBestModel, kLastModel, kAverageModel}) {
    const auto model = SafetensorsFile::open(files_, storage::joined(path_, name));
    if (!model) continue;
    const auto found = model->metadata().find("step");
    if (found != model->metadata().end() && std::strtoll(found->second.c_str(), nullptr, 10) > step) {
      later.push_back(name);
    }
  }
  return later;
}

void ModelDirectory::prepare(const ModelFacts& facts, std::optional<std::int64_t> goes_on_after) {
  if (path_.empty()) return;
  if (group_.rank() == 0) {
    value_or_throw(state::metadata_of(facts));
    path_ = std::filesystem::absolute(path_).lexically_normal().string();
    std::vector<std::string_view> moved(std::begin(kResultsOfRun), std::end(kResultsOfRun));
    if (goes_on_after) moved = models_after(*goes_on_after);
    const Status ready = prepare_run_directory(files_, path_, moved);
    if (!ready) raise(ready.error().with_remedy("Set TrainerOptions::directory to another folder."));
  }
  value_or_throw(group_.run(barrier().within(kLongestWrite)));
}

void ModelDirectory::keep(std::string_view name, const ModuleTensors& tensors, const ModelFacts& facts) {
  if (path_.empty()) return;
  if (group_.rank() == 0) {
    value_or_throw(
        keep_model(files_, {.path = storage::joined(path_, name), .refuges = {".", "/tmp"}}, tensors, facts));
  }
  value_or_throw(group_.run(barrier().within(kLongestWrite)));
}

}  // namespace cohort::train

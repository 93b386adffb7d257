#include "train/model_directory.h"

#include "state/model_facts.h"
#include "state/run_directory.h"
#include "storage/path.h"
#include "train/keep_model.h"

#include <chrono>
#include <filesystem>

namespace cohort::train {
namespace {

constexpr std::chrono::hours kLongestWrite{24};

}  // namespace

void ModelDirectory::prepare(const ModelFacts& facts, Earlier earlier) {
  if (path_.empty()) return;
  if (group_.rank() == 0) {
    value_or_throw(state::metadata_of(facts));
    path_ = std::filesystem::absolute(path_).lexically_normal().string();
    const std::size_t num_moved = earlier == Earlier::kMovedAway ? std::size(kResultsOfRun) : 0;
    const auto moved = std::span(kResultsOfRun).first(num_moved);
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

#include <cohort/error.h>
#include <cohort/stages.h>

#include <fmt/format.h>
#include <string>
#include <torch/nn/module.h>

namespace cohort {
namespace {

struct StagesModule final : torch::nn::Module {
  StagesModule() : torch::nn::Module("Stages") {}
};

}  // namespace

Stages::Stages(std::vector<Stage> stages)
    : stages_(std::move(stages)), module_(std::make_shared<StagesModule>()) {
  if (stages_.empty()) throw UsageError("a model needs at least one stage");
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (stages_[i].module() == nullptr) throw UsageError(fmt::format("stage {} is a null pointer", i));
    module_->register_module(std::to_string(i), stages_[i].module());
  }
}

at::Tensor Stages::forward(at::Tensor input) const {
  for (const Stage& stage : stages_) input = stage.forward(input);
  return input;
}

}  // namespace cohort

#pragma once

#include <cohort/export.h>
#include <cohort/model.h>
#include <cohort/model_facts.h>

#include <memory>
#include <string>

namespace cohort {

/// Writes all parameters and buffers of a module and the facts about it into a safetensors file. The file
/// appears under its name when it is complete; a file that was there before is replaced.
///
///     cohort::save_model(*net, "net.safetensors", {.kind = "net", .classes = {"cat", "dog"}});
///
/// Failure: throws Error if the file cannot be written, UsageError for facts that contradict each other.
COHORT_EXPORT void save_model(const torch::nn::Module& module, const std::string& path,
                              const ModelFacts& facts = {});

/// Reads such a file into a module with tensors of the same names and shapes. Files that other programs wrote
/// are read as well; their facts are empty but for `others`.
///
///     auto net = std::make_shared<Net>();
///     const cohort::ModelFacts facts = cohort::load_model(*net, "net.safetensors");
///
/// Failure: throws UsageError, naming a tensor that is missing, unknown or of another shape; Error if the
/// file is damaged or cannot be read. Then the module is unchanged.
COHORT_EXPORT ModelFacts load_model(torch::nn::Module& module, const std::string& path);

/// A model of a job file, in evaluation mode.
struct LoadedModel {
  std::shared_ptr<Model> module;
  ModelFacts facts;
};

/// Builds the model that a file of `cohort train` describes, and reads its parameters.
///
///     const cohort::LoadedModel model = cohort::load_model("runs/generated/best.safetensors");
///     const at::Tensor output = model.module->forward(cohort::normalised(model.facts, raw));
///
/// Failure: throws UsageError if the file has no facts or those of a module of your own; Error if it is
/// damaged or cannot be read.
COHORT_EXPORT LoadedModel load_model(const std::string& path);

}  // namespace cohort

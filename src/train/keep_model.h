#pragma once

#include "base/result.h"
#include "storage/file_system.h"
#include "train/module_tensors.h"
#include <cohort/model_facts.h>

#include <string>
#include <vector>

namespace cohort::train {

/// Where a trained model is written, and the folders that take it if that fails.
struct ModelPlaces {
  std::string path;
  std::vector<std::string> refuges;
};

/// Writes a trained model so that it is not lost. If the file cannot be written, its folder is created again
/// and the file is tried once more; then the model is written to the first of the refuges that takes it,
/// under a name that no file has: rescued-last.safetensors, rescued-last-2.safetensors, …
///
/// Failure: the file at `path` could not be written. The message says why, and which file has the model now
/// instead, with its absolute path.
Status keep_model(FileSystem& files, const ModelPlaces& places, const ModuleTensors& tensors,
                  const ModelFacts& facts);

}  // namespace cohort::train

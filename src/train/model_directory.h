#pragma once

#include "comm/group/communicator.h"
#include "storage/local_file_system.h"
#include "train/module_tensors.h"
#include <cohort/model_facts.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::train {

/// The folder for the models of a run. Rank 0 writes; the others wait for as long as it is alive, since a
/// slow disk is no reason to end the job.
///
/// Threads: one at a time; all ranks call each method together.
/// Lifetime: the group must outlive it.
/// Failure: throws on rank 0 what the file system reports, on the others what the group reports.
class ModelDirectory {
 public:
  /// An empty path: nothing is written.
  ModelDirectory(Communicator& group, std::string path) : group_(group), path_(std::move(path)) {}

  /// Called before the first step: a folder that cannot be written to must not be noticed after hours of
  /// training. Results of an earlier run are moved to a sub-folder of their own. A run that goes on from them
  /// after so many steps moves only models of later steps away.
  void prepare(const ModelFacts& facts, std::optional<std::int64_t> goes_on_after);
  /// Writes the model under this name; keep_model() tells what happens if that fails.
  void keep(std::string_view name, const ModuleTensors& tensors, const ModelFacts& facts);

 private:
  std::vector<std::string_view> models_after(std::int64_t step);

  Communicator& group_;
  LocalFileSystem files_{};
  std::string path_;  // absolute on rank 0 once it is prepared
};

}  // namespace cohort::train

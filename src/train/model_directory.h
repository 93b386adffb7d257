#pragma once

#include "comm/group/communicator.h"
#include "storage/local_file_system.h"
#include "train/module_tensors.h"
#include <cohort/model_facts.h>

#include <string>
#include <string_view>

namespace cohort::train {

/// The results of an earlier run in the same folder.
enum class Earlier {
  kMovedAway,  ///< to a sub-folder of their own
  kKept,       ///< this run goes on from them
};

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
  /// training.
  void prepare(const ModelFacts& facts, Earlier earlier);
  /// Writes the model under this name; keep_model() tells what happens if that fails.
  void keep(std::string_view name, const ModuleTensors& tensors, const ModelFacts& facts);

 private:
  Communicator& group_;
  LocalFileSystem files_{};
  std::string path_;  // absolute on rank 0 once it is prepared
};

}  // namespace cohort::train

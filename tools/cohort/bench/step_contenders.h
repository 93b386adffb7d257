#pragma once

#include "base/result.h"
#include "bench/group_processes.h"
#include "session.h"

#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

/// A model whose training step is measured, and how it is trained.
struct StepModel {
  std::string name{};
  std::vector<int> batches{};  ///< samples of one rank; each makes a row
  std::string rule{};
  double learning_rate = 0;
  std::string job{};   ///< TOML for `cohort train`: the same model on generated data
  std::string spec{};  ///< what the script of torch must change to have the same inputs as that job
};

/// mlp, gpt, resnet18, and tiny, which is for tests.
std::vector<StepModel> step_models();

/// A model at one batch, on so many ranks.
struct StepCell {
  StepModel model{};
  int batch = 1;  ///< of one rank
  int ranks = 2;
};

/// Who makes steps. The name of a contender is that of its group.
inline constexpr const char* kOurs = "ours";
inline constexpr const char* kOursAlone = "ours_alone";
inline constexpr const char* kOursApart = "ours_apart";  ///< as many trainers of one rank, at the same time
inline constexpr const char* kTorchAlone = "torch_alone";
inline constexpr const char* kTorchDdp = "torch_ddp";
inline constexpr const char* kTrainerWithoutUpdate = "trainer_without_update";
inline constexpr const char* kDataParallel = "data_parallel";
inline constexpr const char* kDataParallelWithoutUpdate = "data_parallel_without_update";

/// Ways of ours besides the trainer.
std::vector<std::string> step_ways();

struct StepPeers {
  std::optional<std::string> python{};  ///< if absent, looked for
  bool channels_last = false;           ///< of the peers; ours has what a job has by default
};

/// How the processes of a contender are started.
///
/// Failure: files that the peers need cannot be written to `folder`.
Result<GroupStart> start_of(const std::string& contender, const StepCell& cell, const Session& session,
                            const StepPeers& peers, const std::string& folder);

/// What torch_step.py is told of a cell, whoever starts it.
std::vector<std::string> torch_step_arguments(const StepCell& cell, const StepPeers& peers);

/// Puts the scripts of torch into a folder.
Status write_peer_scripts(const std::string& folder);

}  // namespace cohort::tool

#pragma once

#include "base/result.h"
#include "bench/group_processes.h"
#include "session.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

/// A model whose training step is measured, and its settings.
struct StepModel {
  std::string name{};
  std::vector<int> batches{};  ///< samples per rank; each is a row
  std::string optimizer{};     ///< sgd, with a momentum of 0.9, or adamw
  double learning_rate = 0;
  std::string job{};   ///< TOML for `cohort train`: the same model on generated data
  std::string spec{};  ///< changes for torch_step.py, so that it gets the same inputs as that job
};

/// The models: mlp, gpt, resnet18, wide, many, and tiny, which is for tests.
std::vector<StepModel> step_models();

/// A model with one batch size and one number of ranks.
struct StepCell {
  StepModel model{};
  int batch = 1;  ///< per rank
  int ranks = 2;
};

/// The end of the name of a contender that computes in bf16: `ours_bf16`.
inline constexpr const char* kBf16Suffix = "_bf16";

/// The contenders. The name of a contender is that of its group.
inline constexpr const char* kOurs = "ours";
inline constexpr const char* kOursAlone = "ours_alone";
inline constexpr const char* kOursApart =
    "ours_apart";  ///< as many separate trainers of one rank at the same time
inline constexpr const char* kTorchAlone = "torch_alone";
inline constexpr const char* kTorchDdp = "torch_ddp";
inline constexpr const char* kTrainerWithoutUpdate = "trainer_without_update";
/// `ours` with batch normalisation over all ranks.
inline constexpr const char* kTrainerSynchronised = "trainer_synchronised";
inline constexpr const char* kDataParallel = "data_parallel";
inline constexpr const char* kDataParallelWithoutUpdate = "data_parallel_without_update";
/// The loop of data_parallel_without_update without DataParallel, on as many ranks at the same time.
inline constexpr const char* kLoopWithoutUpdate = "loop_without_update";

/// Variants of ours besides the trainer.
std::vector<std::string> step_ways();

struct StepPeers {
  std::optional<std::string> python{};  ///< if absent, searched
  bool channels_last = false;           ///< of the peers; ours follows the default of a job
};

/// The programs of a contender.
///
/// Failure: the files for the peers cannot be written to `folder`.
Result<GroupStart> start_of(const std::string& contender, const StepCell& cell, const Session& session,
                            const StepPeers& peers, const std::string& folder);

/// The options of torch_step.py for a cell.
std::vector<std::string> torch_step_arguments(const StepCell& cell, const StepPeers& peers);

/// Writes the scripts of the peers into a folder.
Status write_peer_scripts(const std::string& folder);

/// The time from the start of `cohort train` with a job of this model until its first step is done.
/// Failure: contains the last output of the job.
Result<std::chrono::nanoseconds> our_first_step(const StepCell& cell, const Session& session,
                                                const std::string& folder);

/// The same time for torchrun and torch_step.py with the same model and batch.
Result<std::chrono::nanoseconds> torch_first_step(const StepCell& cell, const StepPeers& peers,
                                                  const std::string& folder);

}  // namespace cohort::tool

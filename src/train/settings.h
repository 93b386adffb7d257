#pragma once

#include "train/module_tensors.h"
#include "train/replica.h"
#include "update/groups.h"
#include <cohort/trainer.h>

#include <string>
#include <vector>

namespace cohort::train {

/// Failure: throws UsageError for options that no data can make right. Its text, as every error of the trainer, names
/// `TrainerOptions::batch_size`; config::with_keys() makes keys of a job file from such names.
void check_options(const TrainerOptions& options, int world);

/// Failure: throws UsageError for options that have no effect beside an optimizer of torch.
void check_torch_options(const TrainerOptions& options);

/// The number of slots of a batch.
int slots_of(const TrainerOptions& options, int world);

/// Whether all ranks make equally many forwards and backwards in a step.
enum class Turns { kOwn, kTogether };
/// The micro-batches of a rank in a step. Together, a rank that has one fewer than others gets a number that
/// no slot has: a turn in which it adds nothing.
std::vector<int> turns_of(const TrainerOptions& options, int world, int rank, Turns turns);

ReplicaSettings replica_settings(const TrainerOptions& options);

/// The group settings of each parameter, in the order of the parameters.
///
/// Failure: throws UsageError for a pattern that matches nothing, a group without a curve, or nothing left to
/// train.
std::vector<GroupSettings> check_groups(const TrainerOptions& options, const torch::nn::Module& module);

/// Turns off the gradients of frozen groups while it lives.
///
/// Failure: as check_groups().
class Frozen {
 public:
  Frozen(const TrainerOptions& options, const torch::nn::Module& module);
  ~Frozen();
  Frozen(Frozen&& other) noexcept = default;
  Frozen& operator=(Frozen&&) = delete;

 private:
  std::vector<at::Tensor> tensors_;
};

/// The optimizer settings of each parameter that is not frozen.
std::vector<ParameterUpdate> updates_of(const TrainerOptions& options, const torch::nn::Module& module);

/// Sets the number of compute threads, and tells malloc to keep large blocks instead of returning them to the
/// kernel after every step. Call it once, before any tensor is made. Returns a description of the settings.
std::string settle_in(int threads);

}  // namespace cohort::train

#pragma once

#include "train/lock_step.h"
#include "train/parameters.h"
#include "train/replica.h"
#include "update/groups.h"
#include <cohort/trainer.h>

#include <vector>

namespace cohort::train {

/// What cannot be right whatever the data: throws UsageError with what to do.
void check_options(const TrainerOptions& options, int world);

/// The number of slots of a batch.
int slots_of(const TrainerOptions& options, int world);

ReplicaSettings replica_settings(const TrainerOptions& options);

/// What the groups say about each parameter, in their order.
/// Failure: throws UsageError for a pattern that matches nothing, a group without a curve, or nothing left to
/// train.
std::vector<GroupSettings> check_groups(const TrainerOptions& options, const torch::nn::Module& module);

/// The parameters of frozen groups, which ask for no gradients while this lives.
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

/// How each parameter that is not frozen is updated, from the rule and the groups.
std::vector<ParameterUpdate> updates_of(const TrainerOptions& options, const torch::nn::Module& module);

}  // namespace cohort::train

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

/// How each parameter is updated, from the rule and the groups. Parameters of frozen groups stop asking for
/// gradients.
/// Failure: as check_groups().
std::vector<ParameterUpdate> updates_of(const TrainerOptions& options, const torch::nn::Module& module);

}  // namespace cohort::train

#pragma once

#include "layout/buckets.h"
#include "train/synchronizer.h"
#include <cohort/trainer.h>

#include <vector>

namespace cohort::train {

/// The synchronizer and the reducer of every parameter. Parameters with the same choice and the same type
/// form a part.
struct SyncPlan {
  struct Part {
    const SynchronizerKind* synchronizer = nullptr;
    const ReducerKind* reducer = nullptr;
    DType dtype = DType::kF32;
  };
  std::vector<Part> parts{};
  std::vector<int> part_of{};  ///< per parameter that is trained

  /// The groups that suit the reducers of all parts.
  NearGroups near_groups() const;
  /// True if a reducer replaces gradients by their sums: then no gradient may lie where backward reads it.
  bool sums_in_place() const;
  /// For each bucket, the actions of its synchronizer.
  std::vector<const BucketActions*> actions(const BucketLayout& layout) const;
};

/// The choices of the parameter groups.
///
/// Failure: throws UsageError for a name that does not exist, and for a reducer whose sums depend on the number
/// of ranks, with Deterministic::kAnyWorld.
SyncPlan sync_plan(const TrainerOptions& options, const torch::nn::Module& module);

}  // namespace cohort::train

#pragma once

#include "train/sync_plan.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cohort::train {

/// The synchronizers of all parts of a model, as one, and the optimizer that they update with.
///
/// Threads: as Synchronizer.
/// Lifetime: lanes and buckets must outlive it.
/// Failure: as Synchronizer and ShardedUpdate.
/// Cost: as its synchronizers; the moments of one slice.
class Synchronizers {
 public:
  Synchronizers(Lanes& lanes, BucketSet& buckets, std::vector<ParameterUpdate> updates, const SyncPlan& plan);

  /// Begins a step, without gradients.
  void open(const StepTerms& terms);
  /// This rank has stored a gradient of the parameter.
  void touched(std::size_t parameter) noexcept { touched_[parameter] = 1; }
  /// An action of a bucket, the meeting of the ranks that share a copy, or that between two passes.
  void perform(const Action& action);
  void add_to(Tally& tally);
  /// Ends a step whose update counts.
  void close();
  bool is_used(std::size_t parameter) const { return of_parameter(parameter).is_used(parameter); }

  ShardedUpdate& update() { return update_; }
  const ShardedUpdate& update() const { return update_; }
  /// Moves buckets and moments to another layout, on all ranks together, in memory of `arena`.
  void move_to(BucketLayout layout, ParameterMemory values, Arena& arena);
  /// The bytes of gradients outside of the buckets.
  std::size_t size_bytes() const;

 private:
  Synchronizer& of_parameter(std::size_t parameter) const {
    return *all_[static_cast<std::size_t>(part_of_[parameter])];
  }

  Lanes& lanes_;
  BucketSet& buckets_;
  const std::vector<int> part_of_;     // per parameter
  std::vector<std::uint8_t> touched_;  // per parameter: it has a gradient on this rank
  ShardedUpdate update_;
  std::vector<std::unique_ptr<Synchronizer>> all_;  // per part
};

}  // namespace cohort::train

#pragma once

#include "layout/step_builder.h"
#include "reduce/lanes.h"
#include "reduce/reducer.h"
#include "train/bucket_set.h"
#include "train/sharded_update.h"
#include "train/vote.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace cohort::train {

/// A way in which the ranks keep the parameters of some buckets equal, or nearly so: it performs the actions
/// that its BucketActions add to a step. A new way is a class of its own and a line in synchronizer_kinds().
///
/// Threads: actions of different lanes at the same time; the other methods while no action runs.
/// Failure: throws what the groups report; a failed step leaves the parameters in an unknown state.
class Synchronizer {
 public:
  virtual ~Synchronizer() = default;

  /// Begins a step, without gradients.
  virtual void open() = 0;
  /// An action of one of its buckets. Those after the vote are performed only if the step counts.
  virtual void perform(const Action& action) = 0;
  /// Adds the results of the step so far to the vote: nothing that lasts has changed, if the update waits for
  /// the vote.
  virtual void add_to(Tally& tally) = 0;
  /// True if a rank has a gradient of the parameter; known once its buckets are reduced.
  virtual bool is_used(std::size_t parameter) const = 0;
  /// The buckets have another layout now.
  virtual void fit_to_layout() = 0;
  /// The bytes of gradients outside of the buckets.
  virtual std::size_t size_bytes() const = 0;
};

/// The parts that a synchronizer works with, which must outlive it.
struct SynchronizerInputs {
  Lanes& lanes;
  BucketSet& buckets;
  ShardedUpdate& update;
  const ReducerKind& reducer;
  /// For each parameter, not 0 if this rank has a gradient of it in this step. Known once its buckets are
  /// filled.
  std::span<const std::uint8_t> touched;
  int part = 0;  ///< its buckets are those of this part
};

/// A synchronizer by the name under which groups of parameters ask for it.
struct SynchronizerKind {
  std::string_view name;
  const BucketActions& actions;
  std::unique_ptr<Synchronizer> (*make)(const SynchronizerInputs& inputs);
};
/// All synchronizers; the first is the default.
std::span<const SynchronizerKind> synchronizer_kinds();

}  // namespace cohort::train

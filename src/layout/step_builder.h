#pragma once

#include "layout/program.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace cohort {

/// Builds the program of a step: computation, and the actions that synchronizers add for their buckets before
/// and after the vote.
///
/// Lifetime: the shape must outlive it.
class StepBuilder {
 public:
  explicit StepBuilder(const StepShape& shape);

  const StepShape& shape() const { return shape_; }
  int lane_of(int bucket) const { return 1 + bucket % (program_.num_lanes - 1); }
  /// Adds an action to its lane; returns its index.
  std::size_t add(Action action);
  /// Adds the action that marks the gradients of a bucket as complete; returns its index.
  std::size_t add_fill(int bucket);
  /// The index of the action that adds up the weights of all ranks, which the first call adds to lane 1.
  std::size_t weighed();
  /// The last actions of all lanes but that of computation.
  std::vector<std::size_t> ends_of_lanes() const;

  /// Adds all actions.
  Program build();

 private:
  std::optional<int> named(int stage) const;
  void compute();
  std::size_t vote();
  std::size_t combine(std::size_t vote);
  void finish();

  const StepShape& shape_;
  Program program_;
  std::vector<std::optional<std::size_t>> last_of_lane_;  // per lane: its last action, fill not counted
  std::optional<std::size_t> last_forward_;
  std::optional<std::size_t> weighed_;
};

/// The actions by which a synchronizer treats one of its buckets: a pure part of every synchronizer, so that
/// a plan can be made without one.
struct BucketActions {
  void (*before_vote)(StepBuilder& step, int bucket) = nullptr;
  /// `vote` is the action that updates wait for: the vote, or kCombine after it.
  void (*after_vote)(StepBuilder& step, int bucket, std::size_t vote) = nullptr;
};

/// Lock step: every bucket is reduced as soon as it is full; it is updated at once, or after the vote.
extern const BucketActions kLockStepActions;

}  // namespace cohort

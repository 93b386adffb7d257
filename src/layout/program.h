#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cohort {

/// The kinds of actions. Actions of buckets (communication and update) overlap with actions of slots
/// (micro-batches: load, forward, backward).
enum class ActionKind {
  kLoad,      ///< fetches the samples of a slot
  kForward,   ///< computes the loss of a slot
  kBackward,  ///< computes the gradients of a slot
  kFill,      ///< marks that the gradients of a bucket are complete; backward completes it, nothing runs
  kReduce,    ///< reduce-scatter of the gradients of a bucket: each rank gets the sum of its slice
  kVote,      ///< the ranks agree whether the step counts, is skipped or fails
  kUpdate,    ///< updates the parameters of this rank's slice of a bucket
  kApply,     ///< reduce and update in one pass over memory
  kGather,    ///< all-gather of the updated slices of a bucket
  kMeet,      ///< barrier: every rank has updated
  kGatherGradients,  ///< all-gather of the reduced gradients of a bucket
  kOptimize,         ///< every rank updates all parameters by itself, with an optimizer of torch
};
std::string_view name(ActionKind kind);

/// The two sequences of actions of a step. Actions of one lane run one after the other; the lanes overlap.
enum class Lane { kSlots, kBuckets };

struct Action {
  ActionKind kind = ActionKind::kLoad;
  int slot = 0;    ///< the micro-batch of load, forward and backward
  int bucket = 0;  ///< the bucket of fill, reduce, update, apply and gather
  std::vector<std::size_t>
      after{};  ///< indices of actions of the other lane that must be over before this one starts

  Lane lane() const {
    const bool of_slots = kind == ActionKind::kLoad || kind == ActionKind::kForward ||
                          kind == ActionKind::kBackward || kind == ActionKind::kVote;
    return of_slots ? Lane::kSlots : Lane::kBuckets;
  }
  /// `forward slot 3`, `reduce bucket 0`.
  std::string text() const;
};

/// The actions of one rank in one step, in the order in which each lane runs them.
using Program = std::vector<Action>;

/// When parameters may change.
enum class UpdateTime {
  kWhenReduced,  ///< each bucket as soon as it is reduced; the step can no longer be skipped
  kAfterVote,    ///< after the vote: needed to clip by norm and to skip steps
  kByEveryRank,  ///< after the vote every rank gets all gradients and updates all parameters
};

/// How many copies of the parameters the ranks of a host keep.
enum class Copies {
  kOne,      ///< ranks that share memory read the same copy, and each writes its slices of it
  kPerRank,  ///< each rank has its own
};

/// The step of one rank of synchronous data-parallel training.
Program data_parallel_program(const std::vector<int>& slots, int num_buckets, UpdateTime update,
                              Copies copies);

}  // namespace cohort

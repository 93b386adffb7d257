#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort {

/// The kinds of actions.
enum class Verb : std::uint8_t {
  kLoad,      ///< fetches the samples of a micro-batch
  kForward,   ///< computes the loss of a micro-batch
  kBackward,  ///< computes the gradients of a micro-batch
  kFill,      ///< marks that the gradients of a bucket are complete; backward completes it, nothing runs
  kWeigh,     ///< adds up the weights of the micro-batches of all ranks: the divisor of the gradients
  kReduce,    ///< reduce-scatter of the gradients of a bucket: each rank gets the sum of its slice
  kVote,      ///< the ranks agree whether the step counts, is skipped or fails
  kPrepare,   ///< the first pass of the optimizers of a bucket that need more of a tensor than elements
  kCombine,   ///< ranks add up norms of tensors, and each computes with its share of whole tensors
  kUpdate,    ///< updates the parameters of this rank's slice of a bucket
  kApply,     ///< reduce and update in one pass over memory
  kGather,    ///< all-gather of the updated slices of a bucket
  kMeet,      ///< barrier of the ranks that share a copy of the parameters: each has updated its part
  kGatherGradients,  ///< all-gather of the reduced gradients of a bucket
  kOptimize,         ///< every rank updates all parameters by itself, with an optimizer of torch
};
std::string_view name(Verb verb);

/// The lane of computation: its actions run on the thread that asked for the step.
inline constexpr int kComputeLane = 0;

/// One thing that a rank does in a step, and what it is done to. Numbers that do not apply are absent.
struct Action {
  Verb verb = Verb::kLoad;
  int lane = kComputeLane;
  std::optional<int> stage{};        ///< of forward and backward, if the model has several
  std::optional<int> micro_batch{};  ///< of load, forward and backward
  std::optional<int> unit{};         ///< part of a model that is gathered or computed again as a whole
  std::optional<int> bucket{};       ///< of fill, reduce, prepare, update, apply and gather
  std::optional<int> peer{};         ///< the other rank of a send or receive
  /// Indices of actions of other lanes that must be over before this one starts.
  std::vector<std::size_t> after{};

  /// `forward micro-batch 3`, `reduce bucket 0`.
  std::string text() const;
};

/// The actions of one rank in one step. Each lane runs its actions one after the other, in this order; lanes
/// overlap. Lane 0 computes; the other lanes communicate and update, each by a communicator of its own.
struct Program {
  int num_lanes = 1;
  std::vector<Action> actions{};

  /// Adds an action; returns its index.
  std::size_t add(Action action);
};

/// A hash of the actions that ranks make together: equal on all ranks of a step, whatever their
/// micro-batches.
std::uint64_t common_hash(const Program& program);

/// When parameters may change.
enum class UpdateTime {
  kWhenReduced,  ///< each bucket as soon as it is reduced; the step can no longer be skipped
  kAfterVote,    ///< after the vote: needed to clip by norm and to skip steps
  kByEveryRank,  ///< after the vote every rank gets all gradients and updates all parameters
};

/// How many copies of the parameters the ranks keep.
enum class Copies {
  kOne,      ///< ranks that share memory read the same copy, and each writes its slices of it
  kPerHost,  ///< the ranks of each host share a copy, of which each writes and gathers a part
  kPerRank,  ///< each rank has its own
};

struct BucketActions;

/// The shape of a step of synchronous data-parallel training.
struct StepShape {
  std::vector<int> micro_batches{};  ///< of this rank
  int num_stages = 1;                ///< parts of the model; with one, actions name no stage
  int num_buckets = 0;
  int bucket_lanes = 1;  ///< buckets in flight at once: bucket b belongs to lane 1 + b modulo this
  UpdateTime update = UpdateTime::kWhenReduced;
  Copies copies = Copies::kPerRank;
  /// For each bucket, not 0 if an optimizer in it makes two passes; empty: no bucket. Requires kAfterVote.
  std::vector<std::uint8_t> two_passes{};
  /// For each bucket, the actions of its synchronizer; empty: lock step for all.
  std::vector<const BucketActions*> actions{};
};

/// The step of one rank of synchronous data-parallel training.
Program data_parallel_program(const StepShape& shape);

}  // namespace cohort

#pragma once

#include "comm/group/communicator.h"
#include "train/bucket_set.h"
#include "train/module_tensors.h"
#include "train/post_steps.h"
#include "train/tensor_update.h"
#include "update/optimizer.h"
#include "update/post_step.h"
#include <cohort/state.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cohort::train {

/// The optimizer of one rank: updates its slice of every bucket, and keeps the moments of these slices in the
/// arena. Optimizers that need more of a tensor make two passes, with combine() in between. Of bf16
/// parameters it keeps an f32 copy of its slices besides, the *master*: updates add to the master, and the
/// parameters become the rounded master. Averages of the parameters and masks, where a training has them, are
/// slices beside the moments, too.
///
/// Threads: pieces of different buckets at the same time; the other methods while no bucket is updated.
/// Lifetime: the buckets must outlive it.
/// Failure: throws what the group reports, kExhausted if the arena is full, and UsageError for an optimizer
/// that has no kernel for the types of the buckets.
/// Cost: the moments, masters, averages and masks of one slice, each in f32; twice while they move.
class ShardedUpdate {
 public:
  /// `rank` of `world` ranks updates slice `rank` of every bucket.
  ShardedUpdate(BucketSet& buckets, std::vector<ParameterUpdate> updates, int rank, int world);

  void set_terms(const StepTerms& terms) { terms_ = terms; }
  const StepTerms& terms() const { return terms_; }
  /// How each parameter is updated.
  std::span<const ParameterUpdate> updates() const { return updates_; }

  /// Keeps averages and masks from now on. Called before begin_masters() and the first step.
  void begin_post_steps(const AverageOptions& average, const ParameterMasks& masks);
  const PostSteps& post_steps() const { return post_; }
  /// Begins the f32 copies of bf16 parameters, once these have their first values.
  void begin_masters();

  BucketSlice own_slice(const Bucket& bucket) const { return slice_of(bucket, rank_, world_); }
  /// The first pass over this rank's slice of bucket `index`, of optimizers that make two. Replaces gradients
  /// by directions, which update() follows. `used` as there.
  void prepare(std::size_t index, float* gradients, std::span<const std::uint8_t> used);
  /// Between the passes; all ranks together, after prepare() for all buckets that have such optimizers.
  void combine(Communicator& group) { tensors_.combine(group, terms_); }
  /// Updates a piece of this rank's slice of bucket `index`. `gradients` begins with the first element of the
  /// piece. Parameters whose flag in `used` is 0, in the order of the bucket's entries, stay as they are.
  void update(std::size_t index, BucketSlice piece, const float* gradients,
              std::span<const std::uint8_t> used);
  /// Sets the gradients of masked elements in a piece of this rank's slice of bucket `index` to zero.
  void mask_gradients(std::size_t index, BucketSlice piece, float* gradients) const;
  /// Moves the averages of this rank's slices towards parameters that other code has updated.
  void average_parameters();
  /// A step in which this parameter was updated is over.
  void count_step(std::size_t parameter) { ++updates_[parameter].count; }
  /// A step with an update is over.
  void count_update() { post_.count_update(); }

  /// The moments in another layout, to which the buckets will be moved, in memory of `arena`: all ranks of
  /// the group call this together. Each rank gets the moments of its new slices from the ranks that have
  /// them.
  void move_to(const BucketLayout& layout, Communicator& group, Arena& arena);
  /// The bytes of this rank's moments, masters, averages and masks.
  std::size_t moment_bytes() const { return moments_.size_bytes + tensors_.size_bytes(); }
  /// Visits the moments of this rank's slices, `weight/exp_avg`, their masters, `weight/master`, averages,
  /// `weight/average`, and masks, `weight/mask`, the number of updates of each parameter, `weight/step`, and
  /// the numbers of PostSteps. `parameters` are those of the buckets, with their names.
  void visit(std::span<const NamedTensor> parameters, const StateVisitor& visitor);
  /// Visits averages, masks and the numbers of PostSteps alone.
  void visit_post_steps(std::span<const NamedTensor> parameters, const StateVisitor& visitor);
  /// The averages of this rank's slices: those of parameter 3, as a vector in the order of its memory, are
  /// pieces of `3/average`.
  std::vector<Piece> average_pieces() const;
  /// The number of masked elements in this rank's slices.
  std::int64_t num_masked() const;

 private:
  /// The arrays that are kept beside the moments.
  enum Beside : std::size_t { kMaster, kAverage, kMask, kNumBeside };
  /// The moments of this rank's slices. Null where the optimizer does not keep the moment.
  struct Moments {
    ArenaBlock block{};
    std::size_t size_bytes = 0;
    std::vector<std::vector<std::array<float*, kMostMoments>>> firsts{};  // per bucket and entry
    std::vector<std::vector<std::array<float*, kNumBeside>>> beside{};    // likewise
  };
  struct Tensor {
    std::string name;
    Shape shape;
    std::vector<std::size_t> order{};  // as Piece::order
  };

  /// The elements of an entry in this rank's slice of its bucket.
  BucketSlice own_run(const Bucket& bucket, const BucketEntry& entry) const;
  Moments empty_moments(const BucketLayout& layout, Arena& arena) const;
  std::vector<Piece> pieces(const BucketLayout& layout, const Moments& moments,
                            std::span<const Tensor> parameters) const;
  std::vector<Tensor> vectors() const;
  static std::vector<Tensor> tensors_of(std::span<const NamedTensor> parameters);
  bool keeps(Beside which, const BucketEntry& entry) const;
  std::size_t num_beside(const BucketEntry& entry) const;
  UpdateSpans spans_of(std::size_t index, std::size_t entry, const BucketSlice& run) const;
  update::PostSpans post_spans(std::size_t index, std::size_t entry, const BucketSlice& run) const;

  BucketSet& buckets_;
  std::vector<ParameterUpdate> updates_;  // per parameter
  const int rank_;
  const int world_;
  StepTerms terms_;
  PostSteps post_;
  Moments moments_;
  TensorUpdate tensors_;
};

}  // namespace cohort::train

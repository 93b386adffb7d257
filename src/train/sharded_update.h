#pragma once

#include "reduce/company.h"
#include "train/bucket_set.h"
#include "update/optimizer.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::train {

/// How one parameter is updated.
struct ParameterUpdate {
  OptimizerSettings optimizer{};
  double rate_factor = 1;  ///< factor of the learning rate
  std::int64_t count = 0;  ///< updates so far
};

/// Factors that apply to all buckets of a step.
struct StepTerms {
  double learning_rate = 0;
  double gradient_scale = 1;  ///< one over the weight of the batch, times the factor of clipping by norm
  double clip_value = 0;      ///< 0: no clipping by value
};

/// The optimizer of one rank: updates its slice of every bucket, and keeps the moments of these slices.
///
/// Threads: pieces of different buckets at the same time; the other methods while no bucket is updated.
/// Lifetime: the buckets must outlive it.
/// Failure: throws what the group reports.
/// Cost: the moments of one slice.
class ShardedUpdate {
 public:
  /// `rank` of `world` ranks updates slice `rank` of every bucket.
  ShardedUpdate(BucketSet& buckets, std::vector<ParameterUpdate> updates, int rank, int world);

  void set_terms(const StepTerms& terms) { terms_ = terms; }
  const StepTerms& terms() const { return terms_; }

  BucketSlice own_slice(const Bucket& bucket) const { return slice_of(bucket, rank_, world_); }
  /// Updates a piece of this rank's slice of bucket `index`. `gradients` begins with the first element of the
  /// piece. Parameters whose flag in `used` is 0, in the order of the bucket's entries, stay as they are.
  void update(std::size_t index, BucketSlice piece, const float* gradients,
              std::span<const std::uint8_t> used);
  /// A step in which this parameter was updated is over.
  void count_step(std::size_t parameter) { ++updates_[parameter].count; }

  /// The moments in another layout, to which the buckets will be moved: all ranks of the group call this
  /// together. Uses memory of `arena` for a while.
  void move_to(const BucketLayout& layout, const Company& groups, Arena& arena);
  /// The bytes of this rank's moments.
  std::size_t moment_bytes() const;

 private:
  /// The moments of this rank's slice of a bucket: as many spans as the optimizers of its parameters keep.
  using Moments = std::vector<std::vector<float>>;

  std::vector<Moments> empty_moments(const BucketLayout& layout) const;
  void move_moment(std::size_t which, const BucketLayout& layout, const Company& groups, std::span<float> all,
                   std::vector<Moments>& to);
  void update_run(const ParameterUpdate& how, Moments& moments, std::size_t moment, BucketSlice run,
                  const float* gradients);

  BucketSet& buckets_;
  std::vector<ParameterUpdate> updates_;  // per parameter
  const int rank_;
  const int world_;
  StepTerms terms_;
  std::vector<Moments> moments_;  // per bucket
};

}  // namespace cohort::train

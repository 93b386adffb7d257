#pragma once

#include "base/result.h"
#include "comm/group/communicator.h"
#include "train/bucket_set.h"
#include "update/optimizer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cohort::train {

/// How one parameter is updated.
struct ParameterUpdate {
  OptimizerSettings optimizer{};
  double rate_factor = 1;  ///< factor of the learning rate
  std::int64_t count = 0;  ///< updates so far
};

/// The order in which ranks' gradients are added.
enum class Summation {
  kByRank,  ///< from rank 0 to rank n−1: the same bits in every run with as many ranks
  kByTree,  ///< as a binary tree: the same bits for every number of ranks that is a power of two
};

/// Factors that apply to all buckets of a step.
struct StepTerms {
  double learning_rate = 0;
  double gradient_scale = 1;  ///< one over the weight of the batch, times the factor of clipping by norm
  double clip_value = 0;      ///< 0: no clipping by value
};

/// Synchronous updates, sharded over the ranks. Each rank reduces its slice of all gradients, updates its
/// slice of the parameters and all-gathers the result, unless all ranks share one copy. So the ranks share
/// the work of the optimizer and the memory of its moments.
///
/// Threads: one at a time.
/// Lifetime: group and buckets must outlive it.
/// Failure: throws what the group reports; a failed step leaves the parameters in an unknown state.
/// Cost: the moments of one slice; one more slice for gradients that are reduced before the vote; with kByTree
/// a copy of one bucket.
class LockStep {
 public:
  LockStep(Communicator& group, BucketSet& buckets, std::vector<ParameterUpdate> updates,
           Summation summation);

  /// This rank has stored a gradient of the parameter in its bucket.
  void touched(std::size_t parameter) { touched_[parameter] = 1; }
  /// Begins a step, without gradients.
  void open(const StepTerms& terms);
  void set_terms(const StepTerms& terms) { terms_ = terms; }
  const StepTerms& terms() const { return terms_; }

  void reduce(int bucket);
  void update(int bucket);
  /// reduce() and update(), in one pass over memory if ranks share memory.
  void apply(int bucket);
  void gather(int bucket);
  /// Every rank gets all reduced gradients of a bucket. Only for GradientMemory::kFlat.
  void gather_gradients(int bucket);
  /// True if a rank has a gradient of the parameter; known once its buckets are reduced.
  bool is_used(std::size_t parameter) const { return used_[parameter] != 0; }
  void meet();

  /// The sum of squares of the reduced gradients: of this rank's slices, or, with kByTree and after
  /// gather_all_gradients(), of all.
  double square_sum();
  void gather_all_gradients();

  /// Moves buckets and moments to another layout, on all ranks together, through memory of `arena`.
  void move_to(BucketLayout layout, ParameterMemory values, Arena& arena);
  /// The bytes of this rank's moments.
  std::size_t moment_bytes() const;
  /// The bytes of reduced gradients outside of the buckets.
  std::size_t reduced_bytes() const;

 private:
  struct Moments {
    std::vector<float> first, second;
  };

  std::vector<Moments> empty_moments(const BucketLayout& layout) const;
  void move_moments(std::vector<float> Moments::*which, const BucketLayout& layout, std::span<float> all,
                    std::vector<Moments>& to);
  void clear_untouched(const Bucket& bucket);
  void agree_on_use(const Bucket& bucket);
  void prepare(const Bucket& bucket);
  void reduce_as_tree(const Bucket& bucket, const BucketSlice& slice);
  void count_updates(const Bucket& bucket);
  void update_piece(std::size_t bucket, BucketSlice piece, const float* gradients);
  void update_run(const ParameterUpdate& how, Moments& moments, std::size_t moment, BucketSlice run,
                  const float* gradients);
  void release_gradients(std::size_t bucket);
  /// True if reduced gradients overwrite this rank's gradients. Otherwise they need other memory, since other
  /// ranks may still read this rank's gradients.
  bool reduces_in_place() const { return summation_ == Summation::kByTree || group_.size() == 1; }
  float* reduced(std::size_t bucket);

  Communicator& group_;
  BucketSet& buckets_;
  std::vector<ParameterUpdate> updates_;
  const Summation summation_;
  StepTerms terms_;
  std::vector<std::uint8_t> touched_;  // parameters with a gradient on this rank
  std::vector<std::uint8_t> used_;     // parameters with a gradient on any rank: known when reduced
  std::vector<std::uint8_t> flags_;
  std::vector<Moments> moments_;             // per bucket
  std::vector<std::vector<float>> reduced_;  // per bucket: this rank's slice, from reduce() to update()
  std::vector<float> gathered_;              // kByTree: all ranks' gradients of this rank's slice
};

}  // namespace cohort::train

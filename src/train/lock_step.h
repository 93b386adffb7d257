#pragma once

#include "base/result.h"
#include "comm/communicator.h"
#include "train/bucket_set.h"
#include "update/rule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cohort::train {

/// How one parameter is updated.
struct ParameterUpdate {
  Rule rule{};
  double rate_factor = 1;  ///< of the learning rate
  std::int64_t count = 0;  ///< updates so far
};

/// The order in which ranks' gradients are added.
enum class Summation {
  kByRank,  ///< rank 0 … n−1 from the left: the same bits in every run of the same world
  kByTree,  ///< a binary tree: the same bits in every world that is a power of two
};

/// What holds for all buckets of a step.
struct StepTerms {
  double learning_rate = 0;
  double gradient_scale = 1;  ///< one over the weight of the batch, times what clipping asks for
  double clip_value = 0;      ///< 0: none
};

/// Replicas that move in lock step. Each rank sums up its slice of everybody's gradients, updates its slice
/// of the parameters and hands it to the others, unless all look at one copy. So the work of an update, and
/// the memory of its moments, is shared.
///
/// Threads: one at a time.
/// Lifetime: group and buckets must outlive it.
/// Failure: throws what the group says; a failed step leaves replicas in an unknown state.
/// Cost: moments of one slice, and as much for what is reduced before the vote; with kByTree a copy of one
/// bucket.
class LockStep {
 public:
  LockStep(Communicator& group, BucketSet& buckets, std::vector<ParameterUpdate> updates,
           Summation summation);

  /// This rank's gradient of the parameter is in its bucket.
  void touched(std::size_t parameter) { touched_[parameter] = 1; }
  bool is_touched(std::size_t parameter) const { return touched_[parameter] != 0; }
  /// Before a step: no gradient is there.
  void open(const StepTerms& terms);
  void set_terms(const StepTerms& terms) { terms_ = terms; }

  void reduce(int bucket);
  void update(int bucket);
  /// Both, in one pass over memory where ranks see each other's.
  void apply(int bucket);
  void gather(int bucket);
  void meet();

  /// Of the reduced gradients: of this rank's slices, or with kByTree, after gather_gradients(), of all.
  double square_sum();
  void gather_gradients();

  /// Moves buckets and moments to another layout, on all ranks together. `arena` lends the memory for that.
  void move_to(BucketLayout layout, ParameterMemory values, Arena& arena);
  /// Bytes of moments this rank keeps.
  std::size_t moment_bytes() const;
  /// Bytes of reduced gradients that have memory of their own.
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
  void update_run(const ParameterUpdate& how, Moments& moments, std::size_t place, BucketSlice run,
                  const float* gradients);
  void release_gradients(std::size_t bucket);
  /// What was reduced stays among the gradients; otherwise it has memory of its own, since others may still
  /// read those.
  bool reduces_in_place() const { return summation_ == Summation::kByTree || group_.world() == 1; }
  float* reduced(std::size_t bucket);

  Communicator& group_;
  BucketSet& buckets_;
  std::vector<ParameterUpdate> updates_;
  const Summation summation_;
  StepTerms terms_;
  std::vector<std::uint8_t> touched_;  // by this rank
  std::vector<std::uint8_t> used_;     // by any rank: known when reduced
  std::vector<std::uint8_t> flags_;
  std::vector<Moments> moments_;             // per bucket
  std::vector<std::vector<float>> reduced_;  // per bucket: this rank's slice, from reduce() to update()
  std::vector<float> gathered_;              // kByTree: everybody's version of this rank's slice
};

}  // namespace cohort::train

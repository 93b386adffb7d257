#pragma once

#include "base/result.h"
#include "comm/group/communicator.h"
#include "layout/program.h"
#include "reduce/lanes.h"
#include "reduce/reducer.h"
#include "train/bucket_set.h"
#include "train/sharded_update.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace cohort::train {

/// Synchronous updates, sharded over the ranks. Each rank reduces its slice of all gradients, updates its
/// slice of the parameters and all-gathers the result, unless all ranks share one copy; if the ranks of each
/// host share one, only across hosts. So the ranks share the work of the optimizer and the memory of its
/// moments.
///
/// Threads: actions of different lanes at the same time; the other methods while no action runs.
/// Lifetime: lanes and buckets must outlive it.
/// Failure: throws what the group reports; a failed step leaves the parameters in an unknown state.
/// Cost: the moments of one slice; one more slice for gradients that are reduced before the vote; the memory
/// of the reducer.
class LockStep {
 public:
  LockStep(Lanes& lanes, BucketSet& buckets, std::vector<ParameterUpdate> updates, Summation summation);

  /// This rank has stored a gradient of the parameter in its bucket.
  void touched(std::size_t parameter) { touched_[parameter] = 1; }
  /// Begins a step, without gradients.
  void open(const StepTerms& terms);
  void set_terms(const StepTerms& terms) { update_.set_terms(terms); }
  const StepTerms& terms() const { return update_.terms(); }
  /// Ends a step whose update counts.
  void close();

  /// The verbs of buckets. kApply is kReduce and kUpdate, in one pass over memory if ranks share memory.
  void perform(const Action& action);
  /// True if a rank has a gradient of the parameter; known once its buckets are reduced.
  bool is_used(std::size_t parameter) const;

  /// The sum of squares of the reduced gradients, of this rank's slices.
  ExactSum square_sum();

  /// Moves buckets and moments to another layout, on all ranks together, through memory of `arena`.
  void move_to(BucketLayout layout, ParameterMemory values, Arena& arena);
  std::size_t moment_bytes() const { return update_.moment_bytes(); }
  /// Visits the state of the optimizer. `parameters` are those of the buckets, with their names.
  void visit(std::span<const NamedTensor> parameters, const StateVisitor& visitor) {
    update_.visit(parameters, visitor);
  }
  /// The bytes of gradients outside of the buckets.
  std::size_t reduced_bytes() const;

 private:
  struct Reduction {
    std::vector<std::uint8_t> used{};  // per entry of the bucket: a rank has a gradient of it
    std::vector<float> sum{};          // of this rank's slice, from reduce to update
  };

  void reduce(const Action& action);
  void update(const Action& action);
  void apply(const Action& action);
  void gather(const Action& action);
  void gather_gradients(const Action& action);
  void fit_to_layout();
  void clear_untouched(const Bucket& bucket);
  comm::Work agree_on_use(const Action& action);
  void with_flags(const Action& action, const std::function<void(const comm::Work& agreed)>& reduce);
  void release_gradients(const Bucket& bucket);
  ReduceJob job_of(const Action& action);
  const Bucket& bucket_of(const Action& action) const;
  const float* reduced(std::size_t bucket);

  Lanes& lanes_;
  BucketSet& buckets_;
  ShardedUpdate update_;
  const std::unique_ptr<Reducer> reducer_;
  std::vector<std::uint8_t> touched_;                     // parameters with a gradient on this rank
  std::vector<Reduction> reductions_;                     // per bucket
  std::vector<std::atomic<std::size_t>> num_unreleased_;  // per parameter: buckets whose gradients are needed
};

}  // namespace cohort::train

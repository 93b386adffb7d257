#pragma once

#include "comm/group/communicator.h"
#include "train/bucket_set.h"
#include "train/parameter_update.h"
#include "train/tensor_exchange.h"
#include "update/two_passes.h"
#include <cohort/state.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cohort::train {

/// For each bucket, whether a parameter in it has an optimizer that makes two passes: StepShape::two_passes.
std::vector<std::uint8_t> two_pass_buckets(const BucketLayout& layout,
                                           std::span<const ParameterUpdate> updates);

/// The part of an update that needs more of a tensor than this rank's slices: norms, which are added up over
/// the ranks, and whole tensors, each of which one rank computes with.
///
/// Threads: buckets at the same time in add(); the other methods while no bucket is updated.
/// Lifetime: the updates must outlive it.
/// Failure: throws what the group reports.
/// Cost: the state of the tensors of this rank, such as the means of rows and columns of adafactor.
class TensorUpdate {
 public:
  /// Parameters are at their places in the buckets already. This rank updates slice `slice` of `world`.
  TensorUpdate(const BucketSet& buckets, const std::vector<ParameterUpdate>& updates, int slice, int world);

  /// The buckets have this layout.
  void fit_to(const BucketLayout& layout);
  bool has_two_passes(std::size_t parameter) const { return tensors_[parameter].has_two_passes; }

  /// Begins the first pass of a bucket. `directions` is this rank's slice of its gradients.
  void open(std::size_t bucket, float* directions);
  /// The entry is updated in this step. Returns the sums that its first pass adds to; null: not needed.
  TensorSums* add(std::size_t bucket, const BucketEntry& entry);
  /// Between the passes: all ranks call it together, after the first passes of all buckets.
  void combine(Communicator& group, const StepTerms& terms);
  /// The factor of the second pass.
  double factor(std::size_t parameter) const { return tensors_[parameter].factor; }

  /// Visits the state of the tensors of this rank under the names of their parameters.
  void visit(std::span<const std::string> names, const StateVisitor& visitor);
  std::size_t size_bytes() const;

 private:
  struct Tensor {
    Shape shape{};
    std::vector<std::size_t> order{};  // as Piece::order
    update::Needs needs = update::Needs::kElements;
    bool has_two_passes = false;
    std::vector<std::vector<float>> state{};  // in the order of whole_state(); on the owner
    // The current step:
    TensorSums sums{};
    double factor = 1;
  };
  /// The results of the first pass over a bucket.
  struct Pass {
    float* directions = nullptr;
    std::vector<std::size_t> parameters{};  // that are updated
    std::vector<std::unique_ptr<TensorSums>> sums{};
  };

  void add_norms(Communicator& group, std::span<const std::uint8_t> used);
  void compute(std::size_t parameter, const StepTerms& terms, std::vector<float>& directions);

  const std::vector<ParameterUpdate>& updates_;
  std::vector<Tensor> tensors_;               // per parameter
  std::vector<Pass> passes_;                  // per bucket
  std::unique_ptr<TensorExchange> exchange_;  // null: no tensor is needed as a whole
};

}  // namespace cohort::train

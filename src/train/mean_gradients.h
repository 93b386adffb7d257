#pragma once

#include "reduce/company.h"
#include "train/gradient_intake.h"
#include "train/module_tensors.h"
#include "train/work_thread.h"

#include <ATen/core/Tensor.h>
#include <cstddef>
#include <functional>
#include <set>
#include <vector>

namespace cohort::train {

/// The DataParallel that gradients are averaged for, as its MeanGradients see it.
struct AveragingRound {
  WorkThread& thread;  ///< averages full buckets
  /// Begins a round unless one is going on. False while gradients are only accumulated.
  std::function<bool()> join;
};

/// The mean gradients of parameters of one type, in the arena: where a parameter's `grad()` is after a round.
///
/// A round is one backward. Gradients arrive in the thread of backward and are copied to their buckets, or
/// stay where they were computed if that is memory of the pool. Full buckets are averaged in order, on
/// another thread; the rest is averaged at the end of backward. A second round before gradients were zeroed
/// averages the sum of old mean and new gradient: the mean of means that are equal on all ranks is that mean,
/// except for rounding where the number of ranks is not a power of two.
///
/// The first round averages nothing before its end: it shows in which order gradients arrive.
///
/// Threads: one at a time; the jobs of the work thread touch only buckets that are full.
/// Lifetime: groups, arena and work thread must outlive it; no round is going on when it is destroyed.
/// Failure: throws what the group reports. After that only the destructor may be called.
/// Cost: the padded size of the gradients, and in the pool the large gradients that are in use at once. Each
/// gradient is read once and written once, and once more each if it has to be copied to its bucket.
class MeanGradients : private GradientSink {
 public:
  MeanGradients(const Company& groups, Arena& arena, std::vector<NamedTensor> named, std::size_t bucket_bytes,
                AveragingRound round, ReportFull report);

  /// The sizes in bytes of the gradients that are large enough to be computed in a pool.
  std::set<std::size_t> pooled_sizes() const;
  void use(GradientPool* pool) { pool_ = pool; }
  bool order_is_known() const { return intake_.order_is_known(); }
  /// The order of parameters in the buckets.
  const std::vector<std::size_t>& bucket_order() const { return order_; }
  /// Gives the buckets another order, which they keep. Before the first round.
  void set_bucket_order(const std::vector<std::size_t>& order);

  /// Backward is over: averages all buckets that were not averaged yet.
  void finish();

 private:
  bool accepts(std::size_t parameter) override;
  void store(std::size_t parameter, at::Tensor gradient, Arrival arrival) override;
  void full(std::size_t bucket) override;

  BucketLayout layout(const std::vector<at::Tensor>& parameters, const std::vector<std::size_t>& order) const;
  void begin();
  bool can_stay(std::size_t parameter, const at::Tensor& gradient) const;
  void move_to_bucket(std::size_t parameter);
  void put(std::size_t parameter, const at::Tensor& gradient);
  void show(std::size_t parameter);
  void average(std::size_t bucket);
  void agree();
  void follow_observed_order();
  void move_to_order(const std::vector<std::size_t>& order);

  const Company& groups_;
  const std::vector<NamedTensor> named_;
  const std::size_t bucket_bytes_;
  const AveragingRound round_;
  GradientPool* pool_ = nullptr;
  std::vector<std::size_t> order_;
  BucketSet buckets_;
  std::vector<at::Tensor> stayed_;  // gradients that are still in the pool, not in their buckets
  std::vector<bool> is_late_;       // a part came after the others were averaged
  GradientIntake intake_;
};

}  // namespace cohort::train

#pragma once

#include "comm/communicator.h"
#include "train/bucket_set.h"
#include "train/parameters.h"
#include "train/work_thread.h"

#include <ATen/core/Tensor.h>
#include <cstddef>
#include <set>
#include <vector>

namespace cohort::train {

/// The mean gradients of parameters of one type, in the arena: where a parameter's `grad()` is after a round.
///
/// How a round goes: gradients arrive in the thread of backward and go to their buckets, or stay in memory
/// of a pool if they have come in such; full buckets are averaged in order, on another thread; at the end of
/// backward come the rest. A second round before gradients were zeroed averages what is there, old mean and
/// new gradient together: the mean of means that are equal on all ranks is that mean, but for rounding where
/// ranks are not a power of two.
///
/// The first round averages nothing before its end: it shows in which order gradients come.
///
/// Threads: one at a time; what it gives to the work thread is its own.
/// Lifetime: group and arena must outlive it; when it goes, no round is under way.
/// Failure: throws what the group says. After that only the destructor may be called.
/// Cost: the padded size of the gradients, and in the pool those large ones that wait for others at once.
/// Each is read once and written once, and once more each if it has to be copied to its bucket.
class MeanGradients {
 public:
  MeanGradients(Communicator& group, Arena& arena, std::vector<NamedTensor> named, std::size_t bucket_bytes);

  /// The sizes in bytes that gradients have which had better be computed in a pool.
  std::set<std::size_t> pooled_sizes() const;
  void use(GradientPool* pool) { pool_ = pool; }
  /// Averages nothing before the end of backward.
  void wait_for_the_end() { waits_for_the_end_ = true; }
  bool order_is_known() const { return order_is_known_; }

  /// Backward has left a gradient at the parameter, and others will be added to it before the round.
  void take(std::size_t parameter);
  /// Backward has left a gradient at the parameter.
  void arrived(std::size_t parameter, WorkThread& thread);
  /// The end of backward: what has not come does not come any more.
  void finish(WorkThread& thread);

 private:
  BucketLayout layout(const std::vector<at::Tensor>& parameters, const std::vector<std::size_t>& order) const;
  void begin();
  bool can_stay(std::size_t parameter, const at::Tensor& gradient) const;
  void put(std::size_t parameter, const at::Tensor& gradient);
  void add_part(std::size_t parameter, const at::Tensor& gradient, WorkThread& thread);
  void show(std::size_t parameter);
  void give(std::size_t bucket, WorkThread& thread);
  void average(std::size_t bucket);
  void agree();
  void follow_observed_order();

  Communicator& group_;
  const std::vector<NamedTensor> named_;
  const std::size_t bucket_bytes_;
  GradientPool* pool_ = nullptr;
  BucketSet buckets_;
  std::vector<at::Tensor> stayed_;  // gradients that are not in their buckets yet, but in the pool
  std::vector<bool> arrived_;
  std::vector<bool> comes_in_parts_;  // has done so: averaged at the end only
  std::vector<bool> is_late_;         // a part came after the others were averaged
  std::vector<std::size_t> pending_;  // per bucket
  std::size_t next_ = 0;              // the bucket that is averaged next
  std::vector<std::size_t> observed_;
  bool waits_for_the_end_ = false;
  bool order_is_known_ = false;
};

}  // namespace cohort::train

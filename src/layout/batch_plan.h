#pragma once

#include <cstdint>
#include <vector>

namespace cohort {

/// The address of a slot: one numbered micro-batch of one batch. Samples are fetched and gradients are
/// computed slot by slot, with the same slots whatever the number of ranks.
struct SlotAddress {
  std::uint64_t epoch = 0;
  std::uint64_t step_in_epoch = 0;
  int slot = 0;

  bool operator==(const SlotAddress&) const = default;
};

/// The samples with indices first … last-1 in the order of an epoch.
struct IndexRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  std::uint64_t count() const { return last - first; }
  bool operator==(const IndexRange&) const = default;
};

/// The cut of an epoch into batches, and of each batch into slots (micro-batches). The last batch of an epoch
/// may be smaller than the others.
///
///     index       0 1 2 3 4 5 6 7 8 9        10 samples, batch 6, 4 slots
///     step        0 0 0 0 0 0 1 1 1 1
///     slot        0 1 1 2 3 3 0 1 2 3        slot s of a batch of b has its indices b*s/4 … b*(s+1)/4 - 1
///
/// Threads: immutable; any number of threads may use it.
class BatchPlan {
 public:
  /// `batch` and `slots` are at least 1.
  BatchPlan(std::uint64_t num_samples, std::uint64_t batch, int slots);

  std::uint64_t steps_per_epoch() const { return steps_; }
  /// Samples in the batch of this step.
  std::uint64_t batch_size(std::uint64_t step_in_epoch) const;
  /// Empty where a batch has fewer samples than slots.
  IndexRange indices(const SlotAddress& address) const;

  std::uint64_t num_samples() const { return num_samples_; }
  int slots() const { return slots_; }

 private:
  std::uint64_t num_samples_;
  std::uint64_t batch_;
  int slots_;
  std::uint64_t steps_;
};

/// The numbers of the slots (micro-batches) that `rank` computes, of `slots` dealt to `world` ranks. Each
/// rank gets consecutive numbers, in order of ranks, and the counts differ by one at most. With fewer slots
/// than ranks, some ranks get an empty list.
std::vector<int> deal(int slots, int world, int rank);

}  // namespace cohort

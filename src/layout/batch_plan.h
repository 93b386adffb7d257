#pragma once

#include <cstdint>

namespace cohort {

/// Which piece of which batch: the unit in which samples are fetched and gradients are made, the same
/// whatever the number of ranks.
struct SlotAddress {
  std::uint64_t epoch = 0;
  std::uint64_t step_in_epoch = 0;
  int slot = 0;

  bool operator==(const SlotAddress&) const = default;
};

/// Positions first … last-1 of an epoch.
struct PositionRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  std::uint64_t count() const { return last - first; }
  bool operator==(const PositionRange&) const = default;
};

/// What becomes of a last batch that is smaller than the others.
enum class LastBatch { kKeep, kDrop };

/// How the positions of an epoch are cut into batches, and each batch into slots.
///
///     positions   0 1 2 3 4 5 6 7 8 9        10 samples, batch 6, 4 slots
///     step        0 0 0 0 0 0 1 1 1 1
///     slot        0 1 1 2 3 3 0 1 2 3        slot s of a batch of b has its positions b*s/4 … b*(s+1)/4 - 1
///
/// Threads: no state, free of locks.
class BatchPlan {
 public:
  /// `batch` and `slots` are at least 1.
  BatchPlan(std::uint64_t num_samples, std::uint64_t batch, int slots, LastBatch last = LastBatch::kKeep);

  std::uint64_t steps_per_epoch() const { return steps_; }
  /// Samples in the batch of this step.
  std::uint64_t batch_size(std::uint64_t step_in_epoch) const;
  /// Empty where a batch has fewer samples than slots.
  PositionRange positions(const SlotAddress& address) const;

  std::uint64_t num_samples() const { return num_samples_; }
  int slots() const { return slots_; }

 private:
  std::uint64_t num_samples_;
  std::uint64_t batch_;
  int slots_;
  std::uint64_t steps_;
};

}  // namespace cohort

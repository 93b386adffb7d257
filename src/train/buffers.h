#pragma once

#include "comm/group/communicator.h"
#include "train/module_tensors.h"

#include <vector>

namespace cohort::train {

/// The buffers of a module that forward changes: running means and counters. Every slot of a step starts from
/// the same values. After the step a buffer is the weighted mean of the values after each slot of all ranks,
/// added in the order of slots, so that the result does not depend on which rank computed which slot. A
/// skipped step leaves the buffers as they were. A buffer that no slot has changed, such as a mask, keeps its
/// bits.
///
/// Threads: one at a time.
/// Cost: a copy of the buffers for each slot; two small all-gathers per step; nothing for a module without
/// buffers.
class Buffers {
 public:
  Buffers(Communicator& group, const ModuleTensors& tensors);

  /// Begins a step.
  void open();
  /// Restores the values before the step, for the forward of the next slot. No graph may need the buffers.
  void open_slot();
  /// Records the values after the forward of a slot of `weight` samples.
  void slot_done(double weight);
  /// After the last slot, on all ranks together: sets the buffers to the mean over all slots.
  void merge();
  /// Restores the values before a step that is skipped.
  void drop();

 private:
  std::vector<double> read() const;
  void write(const std::vector<double>& numbers);
  void check_finite(const std::vector<double>& numbers, const std::vector<bool>& is_constant) const;

  Communicator& group_;
  std::vector<NamedTensor> means_;     // floating point: averaged
  std::vector<NamedTensor> counters_;  // integers: the largest value counts
  std::size_t num_means_ = 0;
  std::size_t num_numbers_ = 0;
  std::vector<double> start_;
  bool is_touched_ = false;    // a slot may have changed the buffers in this step
  std::vector<double> slots_;  // for each slot of this rank: its weight, then the values of all buffers
};

}  // namespace cohort::train

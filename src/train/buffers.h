#pragma once

#include "comm/communicator.h"
#include "train/parameters.h"

#include <vector>

namespace cohort::train {

/// What forward changes besides gradients: running means and counters. Every slot of a step starts from the
/// same buffers; what they become is the mean over all slots of all ranks, weighted, in the order of slots.
/// So they do not depend on who computed which slot, and a step that is skipped leaves them as they were.
/// What no slot has changed, such as a mask, stays as it is to the bit.
///
/// Threads: one at a time.
/// Cost: a copy of the buffers for each slot; one small all_gather a step; nothing for a module without
/// buffers.
class Buffers {
 public:
  Buffers(Communicator& group, const ModuleTensors& tensors);

  /// Before a step.
  void open();
  /// Before the forward of a slot, when no graph needs the buffers any more.
  void open_slot();
  /// After the forward of a slot; `weight` is its number of samples.
  void slot_done(double weight);
  /// After the last slot, on all ranks: the buffers become what all slots say.
  void merge();
  /// The step was not made.
  void drop();

 private:
  std::vector<double> read() const;
  void write(const std::vector<double>& numbers);
  void check_finite(const std::vector<double>& numbers, const std::vector<bool>& is_constant) const;

  Communicator& group_;
  std::vector<NamedTensor> means_;     // floating point: averaged
  std::vector<NamedTensor> counters_;  // whole numbers: the largest
  std::size_t num_means_ = 0;
  std::size_t num_numbers_ = 0;
  std::vector<double> start_;
  std::vector<double> slots_;  // for each slot of this rank: its weight, then its numbers
};

}  // namespace cohort::train

#pragma once

#include "job.h"

#include <string>

namespace cohort::tool {

/// The options of a learning-rate range test.
struct LrRangeOrder {
  double from = 0;  ///< the learning rate of the first step
  double to = 0;    ///< of the last step
  int steps = 0;
  std::string plot{};  ///< a file for the plot; empty: none
};

/// Trains, as one of the ranks, with a learning rate that grows from step to step until the loss diverges.
/// Rank 0 prints losses and suggestions. Writes no model and no snapshot. Returns the exit code.
///
/// Failure: as run_job().
int run_lr_range(const LrRangeOrder& range, const JobOrder& order);

}  // namespace cohort::tool

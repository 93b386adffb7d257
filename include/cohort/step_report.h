#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cohort {

/// One training step, as this rank saw it. Loss, learning rate and samples are the same on all ranks.
struct StepReport {
  std::int64_t step = 0;   ///< counts from 1
  std::int64_t epoch = 0;  ///< counts from 1
  double loss = 0;         ///< mean over the samples, or tokens, of all ranks, before the update
  double learning_rate = 0;
  std::int64_t samples = 0;               ///< samples of the batch, over all ranks
  double seconds = 0;                     ///< duration of the whole step
  double communication_seconds = 0;       ///< the part of `seconds` in which this rank waited for other ranks
  double stall_seconds = 0;               ///< the part of `seconds` in which this rank waited for data
  std::optional<double> gradient_norm{};  ///< present if clipping or skipping needs it
  bool skipped = false;                   ///< loss or gradients were not finite, so no parameter was updated
  std::optional<double> loss_scale{};     ///< of this step, if losses are scaled
  /// Stages of the model that computed in f32 instead of bf16, since their values had overflowed; a model
  /// that is not given as stages has stage 0 only.
  std::vector<int> f32_stages{};
};

}  // namespace cohort

#pragma once

#include "update/optimizer.h"

#include <cstdint>
#include <optional>

namespace cohort::train {

/// How one parameter is updated.
struct ParameterUpdate {
  OptimizerSettings optimizer{};
  double rate_factor = 1;  ///< factor of the learning rate
  std::int64_t count = 0;  ///< updates so far
};

/// Factors that apply to all buckets of a step.
struct StepTerms {
  double learning_rate = 0;
  double gradient_scale = 1;  ///< one over the weight of the batch, times the factor of clipping by norm
  double clip_value = 0;      ///< 0: no clipping by value
  /// Momentum or β₁ of this step; not set: that of the optimizer.
  std::optional<double> momentum{};

  /// The next update of a parameter.
  UpdateStep step_of(const ParameterUpdate& how) const;
  /// Its optimizer, with the momentum of this step.
  OptimizerSettings optimizer_of(const ParameterUpdate& how) const;
};

}  // namespace cohort::train

#pragma once

#include "base/parallel.h"
#include <cohort/optimizer.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace cohort {

/// The settings of one update.
struct UpdateStep {
  std::int64_t count = 1;     ///< number of this update of the parameters: 1, 2, …
  double learning_rate = 0;   ///< after warm-up and learning-rate schedule
  double gradient_scale = 1;  ///< factor of the gradients, applied first
  double clip_value = 0;      ///< largest absolute value of a scaled gradient; 0: no limit
};

/// Spans of `count` elements that do not overlap. Moments that the optimizer does not keep are null.
struct UpdateSpans {
  float* parameters = nullptr;
  const float* gradients = nullptr;
  float* first = nullptr;
  float* second = nullptr;
  std::size_t count = 0;

  UpdateSpans subspan(std::size_t from, std::size_t length) const;
};

/// Updates the parameters once, by the formulas in cohort/optimizer.h. Elements are independent and computed
/// without fused multiply-add, so the bits are the same on every machine and for every division into spans.
///
/// Cost: one pass over the spans, at memory speed, with the widest instructions of this machine.
void apply(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans);
/// apply() on several threads.
void apply(const OptimizerSettings& settings, const UpdateStep& step, const UpdateSpans& spans,
           const Parallel& parallel);

/// The sum of squares, in double. The order of additions depends only on the number of values, so the bits
/// are the same on every machine.
double square_sum(std::span<const float> values);

}  // namespace cohort

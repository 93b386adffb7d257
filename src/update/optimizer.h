#pragma once

#include "base/exact_sum.h"
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

/// Adds the squares of the values. Those of 16 values at a time, counted from the first, are added in double,
/// and their sums exactly: the result is the same however values are cut into spans, at multiples of 16, and
/// on every machine.
///
/// Cost: one pass at memory speed, and a few nanoseconds for 16 values.
void add_squares(std::span<const float> values, ExactSum& sum);

}  // namespace cohort

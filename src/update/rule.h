#pragma once

#include "base/parallel.h"
#include <cohort/rule.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace cohort {

/// What becomes of a gradient once it has been used.
enum class Gradient { kKeep, kZero };

/// What is special about one update.
struct UpdateStep {
  std::int64_t count = 1;     ///< updates of these parameters, this one included: 1, 2, …
  double learning_rate = 0;   ///< η
  double gradient_scale = 1;  ///< gradients are first multiplied by this
  double clip_value = 0;      ///< and then cut to ±clip_value; 0: they are not
  Gradient gradient = Gradient::kKeep;
};

/// Spans of `count` elements that do not overlap. Moments that the rule does not have are null.
struct UpdateSpans {
  float* parameters = nullptr;
  float* gradients = nullptr;
  float* first = nullptr;
  float* second = nullptr;
  std::size_t count = 0;

  UpdateSpans subspan(std::size_t from, std::size_t length) const;
};

/// One update. Every element is computed alone and without fused operations: the bits are the same on every
/// machine, and however spans are cut. A gradient that is kept is not written.
///
/// Cost: one pass over the spans, at memory speed, with the widest instructions of this machine.
void apply(const Rule& rule, const UpdateStep& step, const UpdateSpans& spans);
/// The same on several threads.
void apply(const Rule& rule, const UpdateStep& step, const UpdateSpans& spans, const Parallel& parallel);

/// The sum of squares, in double. The order of additions depends on the number of values alone: the same bits
/// on every machine.
double square_sum(std::span<const float> values);

/// By what gradients of this norm are scaled so that the norm is at most `max_norm`: 1 or less. A norm that
/// is not finite gives one that is not finite or 0; look at it before.
double clip_scale(double norm, double max_norm);

}  // namespace cohort

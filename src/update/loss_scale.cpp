#include "update/loss_scale.h"

#include <cmath>

namespace cohort {
namespace {

// The factors are doubles and the product is rounded to float.
float scaled(double scale, double factor) {
  return static_cast<float>(static_cast<float>(scale) * factor);
}

ScaleState after_overflow(const ScaleOptions& options, const ScaleState& before) {
  ScaleState after{.scale = before.scale, .overflows_in_row = before.overflows_in_row + 1};
  if (after.overflows_in_row >= options.hysteresis) {
    after.scale = scaled(before.scale, options.backoff_factor);
  }
  return after;
}

}  // namespace

ScaleState first_scale(const ScaleOptions& options) {
  return {.scale = static_cast<float>(options.init_scale)};
}

ScaleState next_scale(const ScaleOptions& options, const ScaleState& before, bool overflow) {
  if (overflow) return after_overflow(options, before);
  ScaleState after{.scale = before.scale, .growth_tracker = before.growth_tracker + 1};
  if (after.growth_tracker < options.growth_interval) return after;
  const float grown = scaled(before.scale, options.growth_factor);
  if (std::isfinite(grown)) after.scale = grown;
  after.growth_tracker = 0;
  return after;
}

}  // namespace cohort

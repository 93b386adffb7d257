#pragma once

#include <cohort/precision.h>

#include <cstdint>

namespace cohort {

/// A dynamic factor of the loss and the counters from which its next values follow. Every field is a number,
/// so that it can be saved.
struct ScaleState {
  double scale = 0;                 ///< a float
  std::int64_t growth_tracker = 0;  ///< steps since the last overflow, or since the last growth
  std::int64_t overflows_in_row = 0;

  bool operator==(const ScaleState&) const = default;
};

/// The state before the first step.
ScaleState first_scale(const ScaleOptions& options);

/// The state after a step. Scales are floats, and a growth beyond the largest float is left out, as in
/// torch.amp.GradScaler.
ScaleState next_scale(const ScaleOptions& options, const ScaleState& before, bool overflow);

}  // namespace cohort

#pragma once

#include "state/position.h"
#include "train/vote.h"
#include <cohort/precision.h>

#include <cstdint>
#include <vector>

namespace cohort::train {

// The loss scale and the stages that compute in f32 for a while follow from the position and the verdicts of
// the steps before, so all ranks choose the same without a word, and a resumed training chooses as the one
// before it.

/// The precision of one step.
struct StepPrecision {
  double loss_scale = 1;         ///< factor of the gradient of the loss
  std::uint64_t f32_stages = 0;  ///< a bit for each stage that computes in f32 though the others do not

  bool is_f32(int stage) const { return (f32_stages & bit_of(stage)) != 0; }
  /// Stages from 62 on share a bit.
  static std::uint64_t bit_of(int stage) { return std::uint64_t{1} << (stage < 62 ? stage : 62); }
};

StepPrecision step_precision(const Precision& precision, const state::Position& position);
/// The numbers of the stages whose bit is set, of `num_stages`.
std::vector<int> stages_in(std::uint64_t bits, int num_stages);

/// True if a step whose values are not finite is skipped because of these settings.
bool skips_overflows(const Precision& precision);

/// Changes scale, counters and stages of the position after a step, whose number the position still has.
///
/// Failure: throws kDiverged if the scale would fall below the least one, and if stages overflow that
/// computed in f32 already.
void follow(const Precision& precision, const Verdict& verdict, int num_stages, state::Position& position);

}  // namespace cohort::train

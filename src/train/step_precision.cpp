#include "train/step_precision.h"

#include "base/result.h"
#include "train/divergence.h"
#include "update/loss_scale.h"

#include <cmath>
#include <fmt/format.h>

namespace cohort::train {
namespace {

bool is_dynamic(const Precision& precision) {
  return precision.loss_scaling == LossScaling::kDynamic;
}

// Zero in the position of a training that had no dynamic scale so far.
ScaleState scale_in(const Precision& precision, const state::Position& position) {
  if (position.loss_scale == 0) return first_scale(precision.loss_scale);
  return {.scale = position.loss_scale,
          .growth_tracker = position.growth_tracker,
          .overflows_in_row = position.overflows_in_row};
}

bool falls_back(const Precision& precision) {
  return precision.fallback_steps && resolved(precision.compute) == ComputeType::kBF16;
}

std::uint64_t all_stages(int num_stages) {
  std::uint64_t bits = 0;
  for (int stage = 0; stage < num_stages; ++stage) bits |= StepPrecision::bit_of(stage);
  return bits;
}

void follow_scale(const Precision& precision, bool overflow, state::Position& position) {
  const ScaleState after = next_scale(precision.loss_scale, scale_in(precision, position), overflow);
  if (overflow && after.scale < precision.least_loss_scale) {
    refuse_scale(after.scale, precision.least_loss_scale, position.step);
  }
  position.loss_scale = after.scale;
  position.growth_tracker = after.growth_tracker;
  position.overflows_in_row = after.overflows_in_row;
}

// The stages stay in f32 until that many steps without a further overflow.
void fall_back(const Precision& precision, const Verdict& verdict, int num_stages,
               state::Position& position) {
  const std::uint64_t already = step_precision(precision, position).f32_stages;
  std::uint64_t bits = verdict.overflow_stages & all_stages(num_stages);
  if (bits == 0) bits = all_stages(num_stages);
  if ((bits & ~already) == 0) bits = all_stages(num_stages);  // others made the values that overflow here
  if ((bits & ~already) == 0) refuse_overflow(verdict, position.step);
  position.f32_stages = static_cast<std::int64_t>(already | bits);
  position.f32_until = position.step + 1 + *precision.fallback_steps;
}

}  // namespace

std::vector<int> stages_in(std::uint64_t bits, int num_stages) {
  std::vector<int> stages;
  for (int stage = 0; stage < num_stages; ++stage) {
    if ((bits & StepPrecision::bit_of(stage)) != 0) stages.push_back(stage);
  }
  return stages;
}

StepPrecision step_precision(const Precision& precision, const state::Position& position) {
  StepPrecision step;
  if (precision.loss_scaling == LossScaling::kStatic) step.loss_scale = precision.loss_scale.init_scale;
  if (is_dynamic(precision)) step.loss_scale = scale_in(precision, position).scale;
  if (falls_back(precision) && position.step < position.f32_until) {
    step.f32_stages = static_cast<std::uint64_t>(position.f32_stages);
  }
  return step;
}

bool skips_overflows(const Precision& precision) {
  return is_dynamic(precision) || falls_back(precision);
}

// Gradients that overflow in backward ask for a lower scale first.
void follow(const Precision& precision, const Verdict& verdict, int num_stages, state::Position& position) {
  const bool was_skipped = verdict.kind == Verdict::Kind::kSkip;
  if (was_skipped) ++position.skipped_steps;
  const bool is_for_scale = is_dynamic(precision) && (std::isfinite(verdict.loss) || !falls_back(precision));
  if (is_dynamic(precision) && (is_for_scale || !was_skipped)) follow_scale(precision, was_skipped, position);
  if (was_skipped && falls_back(precision) && !is_for_scale) {
    fall_back(precision, verdict, num_stages, position);
  }
  if (position.step + 1 >= position.f32_until) position.f32_stages = position.f32_until = 0;
}

}  // namespace cohort::train

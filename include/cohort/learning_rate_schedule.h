#pragma once

#include <cohort/export.h>
#include <cohort/learning_rate_curves.h>

#include <cstdint>
#include <optional>

namespace cohort {

/// How the learning rate reaches the beginning of its curve, η₀. With w = `steps` and s < w the step:
///
///   linear        η₀(s+1)/w; with a start factor f, as torch's LinearLR, η₀(f + (1-f)s/w)
///   constant      η₀f, with f = 1/3 unless it is set, as torch's ConstantLR
///   exponential   η₀f^(1-s/w), with f = 0.01 unless it is set
struct WarmUp {
  enum class Shape { kLinear, kConstant, kExponential };

  std::int64_t steps = 0;
  Shape shape = Shape::kLinear;
  std::optional<double> start_factor{};  ///< above 0, at most 1

  bool operator==(const WarmUp&) const = default;
};

/// How a learning rate that was found for batches of `base_batch_size` samples changes with the batch size B:
/// not at all, by B/base_batch_size, or by the square root of that.
struct BatchScaling {
  enum class Rule { kNone, kLinear, kSquareRoot };

  Rule rule = Rule::kNone;
  std::int64_t base_batch_size = 0;  ///< above 0, unless the rule is kNone

  bool operator==(const BatchScaling&) const = default;
};

/// The learning rate of every step: a warm-up, then a curve, whose steps count from the end of the warm-up.
///
///     {.curve = cohort::learning_rate::Cosine{.t_max = 240}, .warmup = {.steps = 10}}
///
/// It is a function of these settings and of the step, and for learning_rate::Plateau of a PlateauState.
struct LearningRateSchedule {
  learning_rate::Curve curve{};
  WarmUp warmup{};
  BatchScaling scale_with_batch{};

  bool operator==(const LearningRateSchedule&) const = default;
};

/// The learning rate of a step, for an optimizer with this learning rate. Steps count from 0. The scaling
/// with the batch is not included: batch_factor() is.
COHORT_EXPORT double learning_rate_at(const LearningRateSchedule& schedule, double learning_rate,
                                      std::int64_t step, const PlateauState& plateau = {});

/// The momentum of a step, or β₁ of an optimizer that has it, for a learning_rate::OneCycle with
/// `cycle_momentum`; nothing for all others.
COHORT_EXPORT std::optional<double> momentum_at(const LearningRateSchedule& schedule, std::int64_t step);

/// The factor by which the learning rate is multiplied for batches of this size.
COHORT_EXPORT double batch_factor(const BatchScaling& scaling, std::int64_t batch_size);

}  // namespace cohort

#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

namespace cohort {

/// The memory of a learning_rate::Plateau: all ranks have the same, and snapshots keep it.
struct PlateauState {
  double best = std::numeric_limits<double>::infinity();  ///< the loss to improve on
  std::int64_t num_bad = 0;                               ///< losses in a row that were not better
  std::int64_t cooldown_left = 0;                         ///< losses that do not count yet
  std::int64_t reductions = 0;                            ///< of the learning rate so far

  bool operator==(const PlateauState&) const = default;
};

namespace learning_rate {

// The curves. η: the learning rate of the optimizer; t: the step, from 0, without the warm-up. Names and
// formulas are those of torch.optim.lr_scheduler where it has the curve. Behind its last step a curve keeps
// its last value.

/// η
struct Constant {
  bool operator==(const Constant&) const = default;
};

/// η·gammaᵏ with k = ⌊t/step_size⌋
struct Step {
  std::int64_t step_size = 1;
  double gamma = 0.1;
  bool operator==(const Step&) const = default;
};

/// η·gammaᵏ with k the number of milestones up to t; they increase.
struct MultiStep {
  std::vector<std::int64_t> milestones{};
  double gamma = 0.1;
  bool operator==(const MultiStep&) const = default;
};

/// η·gammaˣ with x = t/step_size
struct Exponential {
  std::int64_t step_size = 1;
  double gamma = 0.1;
  bool operator==(const Exponential&) const = default;
};

/// η·√(s/(t+s)) with s = `timescale`
struct InverseSquareRoot {
  std::int64_t timescale = 1;
  bool operator==(const InverseSquareRoot&) const = default;
};

/// eta_min + (η-eta_min)(1-t/total_steps)^power
struct Polynomial {
  std::int64_t total_steps = 1;
  double power = 1;
  double eta_min = 0;
  bool operator==(const Polynomial&) const = default;
};

/// From η down to `eta_min` at t = `t_max`, along half a cosine.
struct Cosine {
  std::int64_t t_max = 1;
  double eta_min = 0;
  bool operator==(const Cosine&) const = default;
};

/// A Cosine of `t_0` steps, then one of t_0·t_mult steps, and so on; each begins with η.
struct CosineRestarts {
  std::int64_t t_0 = 1;
  std::int64_t t_mult = 1;
  double eta_min = 0;
  bool operator==(const CosineRestarts&) const = default;
};

/// From η/div_factor up to η in `pct_start` of the steps, and down to η/div_factor/final_div_factor in the
/// last step, total_steps-1. With `three_phase` down to η/div_factor as slowly as up, and then to the end.
/// Momentum, or β₁, goes the other way: from `max_momentum` down to `base_momentum` at η, and back.
struct OneCycle {
  enum class Anneal { kCosine, kLinear };

  std::int64_t total_steps = 1;
  double pct_start = 0.3;
  Anneal anneal_strategy = Anneal::kCosine;
  bool cycle_momentum = true;
  double base_momentum = 0.85;
  double max_momentum = 0.95;
  double div_factor = 25;
  double final_div_factor = 1e4;
  bool three_phase = false;
  bool operator==(const OneCycle&) const = default;
};

/// Warm-up, stable, decay: η until the last `decay_steps` of `total_steps`, in which it falls to `eta_min`:
/// eta_min + (η-eta_min)f with f = 1-x, (1+cos πx)/2 or 1-√x, and x from 0 to 1.
struct StableDecay {
  enum class Shape { kLinear, kCosine, kSquareRoot };

  std::int64_t total_steps = 1;
  std::int64_t decay_steps = 1;
  Shape decay = Shape::kLinear;
  double eta_min = 0;
  bool operator==(const StableDecay&) const = default;
};

/// η·factorᵏ, at least `min_lr`, with k the number of times that more than `patience` losses in a row were
/// not better than the best one before by `threshold`; a reduction by at most `eps` is left out. After a
/// reduction `cooldown` losses do not count. As torch's ReduceLROnPlateau with mode = "min".
struct Plateau {
  enum class Metric {
    kEvaluation,  ///< the loss of every evaluation
    kTraining     ///< the mean training loss of every epoch
  };
  enum class Threshold { kRelative, kAbsolute };

  Metric metric = Metric::kEvaluation;
  double factor = 0.1;
  std::int64_t patience = 10;
  double threshold = 1e-4;
  Threshold threshold_mode = Threshold::kRelative;
  std::int64_t cooldown = 0;
  double min_lr = 0;
  double eps = 1e-8;
  bool operator==(const Plateau&) const = default;
};

using Curve = std::variant<Constant, Step, MultiStep, Exponential, InverseSquareRoot, Polynomial, Cosine,
                           CosineRestarts, OneCycle, StableDecay, Plateau>;

/// The state after one more loss.
COHORT_EXPORT PlateauState after_loss(const Plateau& plateau, PlateauState state, double loss);

}  // namespace learning_rate
}  // namespace cohort

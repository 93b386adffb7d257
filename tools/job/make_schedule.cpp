#include "job/make_schedule.h"

#include "base/check.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace cohort::job {
namespace {

using namespace learning_rate;  // NOLINT: every curve is made here

/// A schedule of a job, and the number of steps after its warm-up.
struct Planned {
  const ScheduleConfig& config;
  std::int64_t rest;

  /// `steps` if it is set, else one part of the rest of so many.
  std::int64_t unless_set(std::int64_t steps, std::int64_t parts) const {
    return steps > 0 ? steps : std::max<std::int64_t>((rest + parts - 1) / parts, 1);
  }
};

// The enumerator with the number of the word.
template <class Enum>
Enum word_of(std::string_view word, std::initializer_list<std::string_view> words) {
  const auto* const found = std::find(words.begin(), words.end(), word);
  COHORT_CHECK(found != words.end(), "'{}' in [schedule]", word);
  return static_cast<Enum>(found - words.begin());
}

Curve make_constant(const Planned&) {
  return Constant{};
}

Curve make_step(const Planned& job) {
  return Step{.step_size = job.unless_set(job.config.step_size, 3), .gamma = job.config.gamma};
}

Curve make_multi_step(const Planned& job) {
  MultiStep steps{.gamma = job.config.gamma};
  steps.milestones.assign(job.config.milestones.begin(), job.config.milestones.end());
  if (!steps.milestones.empty()) return steps;
  for (const std::int64_t milestone : {job.rest / 2, job.rest * 3 / 4}) {
    const bool is_later = steps.milestones.empty() || milestone > steps.milestones.back();
    if (milestone > 0 && is_later) steps.milestones.push_back(milestone);
  }
  return steps;
}

Curve make_exponential(const Planned& job) {
  return Exponential{.step_size = job.unless_set(job.config.step_size, 3), .gamma = job.config.gamma};
}

Curve make_inverse_square_root(const Planned& job) {
  const std::int64_t warmup = job.config.warmup_steps;
  return InverseSquareRoot{.timescale =
                               job.unless_set(job.config.timescale > 0 ? job.config.timescale : warmup, 10)};
}

Curve make_polynomial(const Planned& job) {
  return Polynomial{.total_steps = job.unless_set(job.config.total_steps, 1),
                    .power = job.config.power,
                    .eta_min = job.config.eta_min};
}

Curve make_cosine(const Planned& job) {
  return Cosine{.t_max = job.unless_set(job.config.t_max, 1), .eta_min = job.config.eta_min};
}

Curve make_cosine_restarts(const Planned& job) {
  return CosineRestarts{
      .t_0 = job.unless_set(job.config.t_0, 4), .t_mult = job.config.t_mult, .eta_min = job.config.eta_min};
}

Curve make_one_cycle(const Planned& job) {
  const ScheduleConfig& config = job.config;
  return OneCycle{.total_steps = job.unless_set(config.total_steps, 1),
                  .pct_start = config.pct_start,
                  .anneal_strategy = word_of<OneCycle::Anneal>(config.anneal_strategy, {"cos", "linear"}),
                  .cycle_momentum = config.cycle_momentum,
                  .base_momentum = config.base_momentum,
                  .max_momentum = config.max_momentum,
                  .div_factor = config.div_factor,
                  .final_div_factor = config.final_div_factor,
                  .three_phase = config.three_phase};
}

Curve make_stable_decay(const Planned& job) {
  const std::int64_t total = job.unless_set(job.config.total_steps, 1);
  const std::int64_t decay = job.config.decay_steps > 0 ? job.config.decay_steps : (total + 9) / 10;
  return StableDecay{.total_steps = total,
                     .decay_steps = std::min(decay, total),
                     .decay = word_of<StableDecay::Shape>(job.config.decay, {"linear", "cosine", "1-sqrt"}),
                     .eta_min = job.config.eta_min};
}

Curve make_plateau(const Planned& job) {
  const ScheduleConfig& config = job.config;
  return Plateau{.metric = word_of<Plateau::Metric>(config.metric, {"evaluation", "training"}),
                 .factor = config.factor,
                 .patience = config.patience,
                 .threshold = config.threshold,
                 .threshold_mode = word_of<Plateau::Threshold>(config.threshold_mode, {"rel", "abs"}),
                 .cooldown = config.cooldown,
                 .min_lr = config.min_lr,
                 .eps = config.eps};
}

struct NamedCurve {
  std::string_view name;
  Curve (*make)(const Planned&);
};

constexpr NamedCurve kCurves[] = {{"constant", make_constant},
                                  {"step", make_step},
                                  {"multi-step", make_multi_step},
                                  {"exponential", make_exponential},
                                  {"inverse-sqrt", make_inverse_square_root},
                                  {"polynomial", make_polynomial},
                                  {"cosine", make_cosine},
                                  {"cosine-restarts", make_cosine_restarts},
                                  {"one-cycle", make_one_cycle},
                                  {"wsd", make_stable_decay},
                                  {"plateau", make_plateau}};

Curve make_curve(const Planned& job) {
  const auto* const found =
      std::find_if(std::begin(kCurves), std::end(kCurves),
                   [&](const NamedCurve& curve) { return curve.name == job.config.name; });
  COHORT_CHECK(found != std::end(kCurves), "schedule.name = '{}'", job.config.name);
  return found->make(job);
}

}  // namespace

LearningRateSchedule make_learning_rate_schedule(const ScheduleConfig& config, std::int64_t run_steps) {
  const std::int64_t rest = std::max<std::int64_t>(run_steps - config.warmup_steps, 1);
  return {.curve = make_curve({config, rest}),
          .warmup = {.steps = config.warmup_steps,
                     .shape = word_of<WarmUp::Shape>(config.warmup, {"linear", "constant", "exponential"}),
                     .start_factor = config.warmup_start_factor},
          .scale_with_batch = {
              .rule = word_of<BatchScaling::Rule>(config.scale_with_batch, {"none", "linear", "sqrt"}),
              .base_batch_size = config.base_batch_size}};
}

}  // namespace cohort::job

#include "config/sections.h"

namespace cohort::config {
namespace {

constexpr double kMostLearningRate = 1000.0;
constexpr int kMostScheduleSteps = 1'000'000'000;
constexpr Range<double> kMomentum{1e-6, 0.999999};

std::vector<Key> warmup_keys() {
  return {
      whole_number("schedule.warmup_steps", COHORT_FIELD(schedule.warmup_steps), 0, {0, kMostScheduleSteps},
                   "The number of steps of the warm-up, in which the learning rate rises to the beginning of "
                   "the schedule, which begins after it."),
      word("schedule.warmup", COHORT_FIELD(schedule.warmup), {"linear", "constant", "exponential"}, "linear",
           "How the learning rate rises in the warm-up."),
      optional_real_number(
          "schedule.warmup_start_factor", COHORT_FIELD(schedule.warmup_start_factor), {1e-9, 1.0}, "0.1",
          "The part of the learning rate with which the warm-up begins; unset: for linear one "
          "over schedule.warmup_steps, for constant a third, for exponential 0.01."),
  };
}

std::vector<Key> step_keys() {
  return {
      whole_number(
          "schedule.step_size", COHORT_FIELD(schedule.step_size), 0, {0, kMostScheduleSteps},
          "The number of steps after which step and exponential have multiplied the learning rate by "
          "schedule.gamma; 0: a third of the rest of the run."),
      whole_number_list("schedule.milestones", COHORT_FIELD(schedule.milestones), {}, {1, kMostScheduleSteps},
                        "The steps, after the warm-up, at which multi-step multiplies the learning rate by "
                        "schedule.gamma; empty: half and three quarters of the rest of the run."),
      real_number(
          "schedule.gamma", COHORT_FIELD(schedule.gamma), 0.1, {1e-9, 1.0},
          "The factor of the learning rate in each schedule.step_size steps or at each milestone, for "
          "step, multi-step and exponential."),
  };
}

std::vector<Key> curve_keys() {
  return {
      whole_number("schedule.timescale", COHORT_FIELD(schedule.timescale), 0, {0, kMostScheduleSteps},
                   "The number of steps after which inverse-sqrt has fallen to 0.71 of the learning rate; 0: "
                   "schedule.warmup_steps, or without a warm-up a tenth of the run."),
      whole_number("schedule.total_steps", COHORT_FIELD(schedule.total_steps), 0, {0, kMostScheduleSteps},
                   "The number of steps, after the warm-up, of polynomial, one-cycle and wsd; 0: the rest of "
                   "the run."),
      real_number("schedule.power", COHORT_FIELD(schedule.power), 1.0, {0.0, 100.0},
                  "The exponent of polynomial; 1: a straight line."),
      whole_number("schedule.t_max", COHORT_FIELD(schedule.t_max), 0, {0, kMostScheduleSteps},
                   "The number of steps in which cosine falls to schedule.eta_min; 0: the rest of the run."),
      whole_number("schedule.t_0", COHORT_FIELD(schedule.t_0), 0, {0, kMostScheduleSteps},
                   "The number of steps of the first cosine of cosine-restarts; 0: a quarter of the rest of "
                   "the run."),
      whole_number("schedule.t_mult", COHORT_FIELD(schedule.t_mult), 1, {1, 1000},
                   "The length of a cosine of cosine-restarts, as a multiple of the one before."),
      real_number("schedule.eta_min", COHORT_FIELD(schedule.eta_min), 0.0, {0.0, kMostLearningRate},
                  "The learning rate at the end of polynomial, cosine, cosine-restarts and wsd."),
  };
}

std::vector<Key> cycle_keys() {
  return {
      real_number("schedule.pct_start", COHORT_FIELD(schedule.pct_start), 0.3, {0.0, 1.0},
                  "The part of its steps in which one-cycle rises to optimizer.learning_rate."),
      word("schedule.anneal_strategy", COHORT_FIELD(schedule.anneal_strategy), {"cos", "linear"}, "cos",
           "The shape of the rise and the fall of one-cycle."),
      flag("schedule.three_phase", COHORT_FIELD(schedule.three_phase), false,
           "Let one-cycle fall to its first learning rate as slowly as it rises, and then to its last."),
      real_number("schedule.div_factor", COHORT_FIELD(schedule.div_factor), 25.0, {1.0, 1e9},
                  "optimizer.learning_rate divided by the first learning rate of one-cycle."),
      real_number("schedule.final_div_factor", COHORT_FIELD(schedule.final_div_factor), 1e4, {1.0, 1e12},
                  "The first learning rate of one-cycle divided by its last."),
      flag(
          "schedule.cycle_momentum", COHORT_FIELD(schedule.cycle_momentum), true,
          "Let one-cycle lower the momentum, or the first number of optimizer.betas, while the learning rate "
          "rises, and raise it while the learning rate falls."),
      real_number("schedule.base_momentum", COHORT_FIELD(schedule.base_momentum), 0.85, kMomentum,
                  "The momentum of one-cycle at its highest learning rate."),
      real_number("schedule.max_momentum", COHORT_FIELD(schedule.max_momentum), 0.95, kMomentum,
                  "The momentum of one-cycle at its first and last learning rate."),
      whole_number("schedule.decay_steps", COHORT_FIELD(schedule.decay_steps), 0, {0, kMostScheduleSteps},
                   "The number of steps at the end in which wsd falls to schedule.eta_min; 0: a tenth of its "
                   "steps."),
      word("schedule.decay", COHORT_FIELD(schedule.decay), {"linear", "cosine", "1-sqrt"}, "linear",
           "The shape of the fall at the end of wsd."),
  };
}

std::vector<Key> plateau_keys() {
  return {
      word(
          "schedule.metric", COHORT_FIELD(schedule.metric), {"evaluation", "training"}, "evaluation",
          "The loss that plateau watches: that of each evaluation, or the mean training loss of each epoch."),
      real_number("schedule.factor", COHORT_FIELD(schedule.factor), 0.1, {0.0, 0.999999},
                  "The factor by which plateau multiplies the learning rate when the loss stops falling."),
      whole_number("schedule.patience", COHORT_FIELD(schedule.patience), 10, {0, kMostScheduleSteps},
                   "The number of losses in a row without a better one that plateau accepts."),
      real_number("schedule.threshold", COHORT_FIELD(schedule.threshold), 1e-4, {0.0, 1e9},
                  "How much better than the best loss so far a loss must be for plateau."),
      word("schedule.threshold_mode", COHORT_FIELD(schedule.threshold_mode), {"rel", "abs"}, "rel",
           "Whether schedule.threshold is a part of the best loss (rel) or a difference (abs)."),
      whole_number(
          "schedule.cooldown", COHORT_FIELD(schedule.cooldown), 0, {0, kMostScheduleSteps},
          "The number of losses that plateau does not count after it has lowered the learning rate."),
      real_number("schedule.min_lr", COHORT_FIELD(schedule.min_lr), 0.0, {0.0, kMostLearningRate},
                  "The lowest learning rate of plateau."),
      real_number("schedule.eps", COHORT_FIELD(schedule.eps), 1e-8, {0.0, 1.0},
                  "plateau leaves out changes of the learning rate that are not larger than this."),
  };
}

std::vector<Key> batch_keys() {
  return {
      word("schedule.scale_with_batch", COHORT_FIELD(schedule.scale_with_batch), {"none", "linear", "sqrt"},
           "none",
           "Multiply the learning rate by train.batch_size divided by schedule.base_batch_size (linear), or "
           "by "
           "the square root of that (sqrt)."),
      whole_number(
          "schedule.base_batch_size", COHORT_FIELD(schedule.base_batch_size), 0, {0, kMostScheduleSteps},
          "The batch size that optimizer.learning_rate is right for, for schedule.scale_with_batch."),
  };
}

}  // namespace

std::vector<Key> schedule_keys() {
  std::vector<Key> keys = {
      word("schedule.name", COHORT_FIELD(schedule.name),
           {"constant", "step", "multi-step", "exponential", "inverse-sqrt", "polynomial", "cosine",
            "cosine-restarts", "one-cycle", "wsd", "plateau"},
           "constant", "How the learning rate changes after the warm-up."),
  };
  for (const auto part : {warmup_keys, step_keys, curve_keys, cycle_keys, plateau_keys, batch_keys}) {
    for (Key& key : part()) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace cohort::config

#include "config/sections.h"

namespace cohort::config {
namespace {

constexpr double kMostRate = 1000.0;
constexpr int kMostSteps = 1'000'000'000;

std::vector<Key> rule_keys() {
  return {
      word("update.rule", COHORT_FIELD(update.rule), {"sgd", "momentum", "nesterov", "adam", "adamw"},
           "momentum", "How a gradient moves its parameters."),
      real_number("update.learning_rate", COHORT_FIELD(update.learning_rate), 0.05, {0.0, kMostRate},
                  "The learning rate, before warm-up and schedule."),
      real_number("update.momentum", COHORT_FIELD(update.momentum), 0.9, {0.0, 1.0},
                  "What momentum and nesterov keep of the direction so far."),
      real_number("update.beta1", COHORT_FIELD(update.beta1), 0.9, {0.0, 0.999999},
                  "What adam and adamw keep of the mean of gradients."),
      real_number("update.beta2", COHORT_FIELD(update.beta2), 0.999, {0.0, 0.999999},
                  "What adam and adamw keep of the mean of squared gradients."),
      real_number("update.epsilon", COHORT_FIELD(update.epsilon), 1e-8, {1e-30, 1.0},
                  "What adam and adamw add to the root they divide by."),
      real_number("update.weight_decay", COHORT_FIELD(update.weight_decay), 0.0, {0.0, 1000.0},
                  "How strongly parameters are drawn to 0: through the gradient, in adamw apart from it."),
      text_list("update.groups", COHORT_FIELD(update.groups),
                R"(["*.bias: weight_decay=0, learning_rate=1e-4"])",
                "Other settings for parameters whose names match a pattern, the first that matches; "
                "learning_rate, weight_decay and frozen can be set."),
  };
}

std::vector<Key> schedule_keys() {
  return {
      word("update.schedule", COHORT_FIELD(update.schedule), {"constant", "step", "exponential", "cosine"},
           "constant", "How the learning rate changes after the warm-up."),
      whole_number("update.warmup_steps", COHORT_FIELD(update.warmup_steps), 0, {0, kMostSteps},
                   "Over how many steps the learning rate rises from 0 before the schedule begins."),
      whole_number("update.schedule_steps", COHORT_FIELD(update.schedule_steps), 0, {0, kMostSteps},
                   "After how many steps the factor applies, or over how many a cosine falls; 0: the whole "
                   "run."),
      real_number("update.schedule_factor", COHORT_FIELD(update.schedule_factor), 0.1, {0.0, 1.0},
                  "By what step and exponential multiply the learning rate in update.schedule_steps."),
      real_number("update.final_learning_rate", COHORT_FIELD(update.final_learning_rate), 0.0,
                  {0.0, kMostRate}, "Where a cosine ends."),
  };
}

std::vector<Key> gradient_keys() {
  return {
      real_number("update.clip_norm", COHORT_FIELD(update.clip_norm), 0.0, {0.0, 1e9},
                  "The longest that all gradients together may be; 0: no limit."),
      real_number("update.clip_value", COHORT_FIELD(update.clip_value), 0.0, {0.0, 1e9},
                  "The largest that one number of a gradient may be; 0: no limit."),
      flag("update.skip_non_finite", COHORT_FIELD(update.skip_non_finite), false,
           "Leave out a step whose gradients are not finite, instead of ending the run."),
  };
}

}  // namespace

std::vector<Key> update_keys() {
  std::vector<Key> keys = rule_keys();
  for (const auto more : {schedule_keys, gradient_keys}) {
    for (Key& key : more()) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace cohort::config

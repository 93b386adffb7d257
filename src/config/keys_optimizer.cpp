#include "config/sections.h"
#include "update/optimizer.h"

namespace cohort::config {
namespace {

constexpr double kMostRate = 1000.0;
constexpr Range<double> kBelowOne{0.0, 0.999999};

std::vector<Key> update_keys() {
  return {
      word("optimizer.name", COHORT_FIELD(optimizer.name), optimizer_names(), "sgd",
           "The optimizer that updates the parameters."),
      real_number("optimizer.learning_rate", COHORT_FIELD(optimizer.learning_rate), 0.05, {0.0, kMostRate},
                  "The learning rate, before warm-up and learning-rate schedule."),
      real_number("optimizer.momentum", COHORT_FIELD(optimizer.momentum), 0.9, kBelowOne,
                  "The momentum of sgd; 0: plain SGD, without memory for moments."),
      flag("optimizer.nesterov", COHORT_FIELD(optimizer.nesterov), false,
           "Use Nesterov momentum in sgd; requires optimizer.momentum above 0."),
      number_pair(
          "optimizer.betas", COHORT_FIELD(optimizer.betas), {0.9, 0.999}, kBelowOne,
          "The decay rates of adam and adamw for the running mean of gradients and of their squares."),
      real_number("optimizer.eps", COHORT_FIELD(optimizer.eps), 1e-8, {1e-30, 1.0},
                  "The number that adam and adamw add to the denominator."),
      real_number("optimizer.weight_decay", COHORT_FIELD(optimizer.weight_decay), 0.0, {0.0, 1000.0},
                  "The weight decay: added to the gradient in sgd and adam, decoupled from it in adamw."),
      text_list(
          "optimizer.groups", COHORT_FIELD(optimizer.groups),
          R"(["*.bias: weight_decay=0, learning_rate=1e-4"])",
          "Other settings (learning_rate, learning_rate_factor, weight_decay, frozen, reducer, synchronizer) "
          "for parameters whose names match a pattern; the first matching group counts."),
  };
}

std::vector<Key> gradient_keys() {
  return {
      real_number("optimizer.clip_grad_norm", COHORT_FIELD(optimizer.clip_grad_norm), 0.0, {0.0, 1e9},
                  "The largest norm of all gradients together; larger ones are scaled down; 0: no limit."),
      real_number(
          "optimizer.clip_grad_value", COHORT_FIELD(optimizer.clip_grad_value), 0.0, {0.0, 1e9},
          "The largest absolute value of an element of a gradient; larger ones are cut; 0: no limit."),
      flag("optimizer.skip_non_finite", COHORT_FIELD(optimizer.skip_non_finite), false,
           "Skip a step whose loss or gradients are NaN or infinite, instead of ending the run."),
  };
}

}  // namespace

std::vector<Key> optimizer_keys() {
  std::vector<Key> keys = update_keys();
  for (Key& key : gradient_keys()) keys.push_back(std::move(key));
  return keys;
}

}  // namespace cohort::config

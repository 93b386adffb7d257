#include "config/sections.h"
#include "update/optimizer.h"
#include "update/settings.h"
#include <cohort/solver_settings.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <type_traits>

namespace cohort::config {
namespace {

constexpr double kMostRate = 1000.0;
constexpr Range<double> kBelowOne{0.0, 0.999999};
constexpr Range<double> kFraction{0.0, 1.0};
constexpr Range<double> kThousand{0.0, 1000.0};

// `adam 0.001, adamw 0.001`: the default of a setting for each optimizer that has one.
template <class Setting>
std::string defaults_text(std::optional<Setting> OptimizerSettings::*setting) {
  std::vector<std::string> texts;
  for (const std::string& name : optimizer_names()) {
    const OptimizerSettings settings = with_defaults({.kind = *optimizer_named(name)});
    if (!(settings.*setting)) continue;
    if constexpr (std::is_same_v<Setting, std::pair<double, double>>) {
      const auto [first, second] = *(settings.*setting);
      texts.push_back(fmt::format("{} [{}, {}]", name, first, second));
    } else {
      texts.push_back(fmt::format("{} {}", name, *(settings.*setting)));
    }
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// `adam and adamw`: the optimizers that use a setting.
std::string users_text(std::string_view setting) {
  std::vector<std::string> users = users_of(setting);
  const std::string last = users.back();
  users.pop_back();
  return users.empty() ? last : fmt::format("{} and {}", fmt::join(users, ", "), last);
}

std::vector<std::string> names_with_solvers() {
  std::vector<std::string> names = optimizer_names();
  for (std::string& name : solver_names()) names.push_back(std::move(name));
  return names;
}

std::vector<Key> name_and_rate_keys() {
  return {
      word("optimizer.name", COHORT_FIELD(optimizer.name), names_with_solvers(), "sgd",
           fmt::format("The optimizer that updates the parameters, or a solver ({}), for which a step is an "
                       "iteration with the loss of all samples.",
                       fmt::join(solver_names(), ", "))),
      optional_real_number(
          "optimizer.learning_rate", COHORT_FIELD(optimizer.learning_rate), {0.0, kMostRate}, "0.05",
          fmt::format("The learning rate, before warm-up and learning-rate schedule; if not set: {}.",
                      defaults_text(&OptimizerSettings::learning_rate))),
      real_number("optimizer.weight_decay", COHORT_FIELD(optimizer.weight_decay), 0.0, kThousand,
                  "The weight decay: added to the gradient, or decoupled from it in adamw, lion, adafactor "
                  "and muon; part "
                  "of the direction in lamb and lars."),
      flag("optimizer.maximize", COHORT_FIELD(optimizer.maximize), false,
           "Follow the gradient upwards, to the largest loss."),
  };
}

std::vector<Key> momentum_keys() {
  return {
      optional_real_number("optimizer.momentum", COHORT_FIELD(optimizer.momentum), kBelowOne, "0.9",
                           fmt::format("The momentum; 0: none, without memory for it; if not set: {}.",
                                       defaults_text(&OptimizerSettings::momentum))),
      optional_flag("optimizer.nesterov", COHORT_FIELD(optimizer.nesterov),
                    fmt::format("Use Nesterov momentum; requires optimizer.momentum above 0; if not set: {}.",
                                defaults_text(&OptimizerSettings::nesterov))),
      real_number("optimizer.dampening", COHORT_FIELD(optimizer.dampening), 0.0, kFraction,
                  "The part of a gradient that does not join the momentum of sgd, after the first step."),
      real_number("optimizer.momentum_decay", COHORT_FIELD(optimizer.momentum_decay), 0.004, kThousand,
                  "How fast the momentum of nadam rises to the first of optimizer.betas."),
  };
}

std::vector<Key> moment_keys() {
  return {
      optional_number_pair("optimizer.betas", COHORT_FIELD(optimizer.betas), kBelowOne, "[0.9, 0.999]",
                           fmt::format("The decay rates of the running means of gradients and of their "
                                       "squares; if not set: {}.",
                                       defaults_text(&OptimizerSettings::betas))),
      optional_real_number(
          "optimizer.eps", COHORT_FIELD(optimizer.eps), {1e-30, 1.0}, "1e-8",
          fmt::format("The number that is added to the denominator, or the least one; if not set: {}.",
                      defaults_text(&OptimizerSettings::eps))),
      flag("optimizer.amsgrad", COHORT_FIELD(optimizer.amsgrad), false,
           fmt::format("Divide by the largest mean of squares so far, in {}.", users_text("amsgrad"))),
      flag("optimizer.decoupled_weight_decay", COHORT_FIELD(optimizer.decoupled_weight_decay), false,
           fmt::format("Decouple the weight decay from the gradient, in {}.",
                       users_text("decoupled_weight_decay"))),
      real_number("optimizer.alpha", COHORT_FIELD(optimizer.alpha), 0.99, kBelowOne,
                  "The decay rate of the mean of squares of rmsprop."),
      flag("optimizer.centered", COHORT_FIELD(optimizer.centered), false,
           "Divide by the variance of gradients instead of the mean of their squares, in rmsprop."),
      real_number("optimizer.rho", COHORT_FIELD(optimizer.rho), 0.9, kBelowOne,
                  "The decay rate of the means of squares of adadelta."),
      real_number("optimizer.lr_decay", COHORT_FIELD(optimizer.lr_decay), 0.0, kThousand,
                  "How fast the learning rate of adagrad falls: it is divided by 1 plus this for each step."),
      real_number("optimizer.initial_accumulator_value", COHORT_FIELD(optimizer.initial_accumulator_value),
                  0.0, {0.0, 1e9}, "The first value of the sums of squares of adagrad."),
  };
}

std::vector<Key> tensor_keys() {
  return {
      real_number("optimizer.trust_coefficient", COHORT_FIELD(optimizer.trust_coefficient), 0.001, kThousand,
                  "The factor of the local learning rates of lars."),
      real_number("optimizer.beta2_decay", COHORT_FIELD(optimizer.beta2_decay), -0.8, {-10.0, -1e-6},
                  "How fast the means of squares of adafactor become longer: step t moves them by t to the "
                  "power of this."),
      real_number("optimizer.eps2", COHORT_FIELD(optimizer.eps2), 1e-3, kThousand,
                  "The least root mean square of a parameter that adafactor multiplies its updates by."),
      real_number("optimizer.d", COHORT_FIELD(optimizer.d), 1.0, {1.0, 1e9},
                  "The largest root mean square of an update of adafactor; larger ones are scaled down."),
      whole_number("optimizer.ns_steps", COHORT_FIELD(optimizer.ns_steps), 5, {0, 99},
                   "The iterations of Newton and Schulz in each update of muon."),
      number_list("optimizer.ns_coefficients", COHORT_FIELD(optimizer.ns_coefficients), {-1000.0, 1000.0},
                  "[3.4445, -4.775, 2.0315]",
                  "The three coefficients of these iterations; if not set: those of the example."),
      flag("optimizer.match_rms_adamw", COHORT_FIELD(optimizer.match_rms_adamw), false,
           "Give the updates of muon about the size of those of adamw, so that learning rates for adamw fit; "
           "adjust_lr_fn of torch.optim.Muon."),
      optional_real_number("optimizer.fallback_learning_rate", COHORT_FIELD(optimizer.fallback_learning_rate),
                           {0.0, kMostRate}, "0.0003",
                           "The learning rate of the adamw that updates tensors of less than two dimensions "
                           "where muon updates "
                           "the others; if not set: optimizer.learning_rate."),
      optional_number_pair("optimizer.fallback_betas", COHORT_FIELD(optimizer.fallback_betas), kBelowOne,
                           "[0.9, 0.95]", "The betas of this adamw; if not set: those of adamw."),
      optional_real_number("optimizer.fallback_eps", COHORT_FIELD(optimizer.fallback_eps), {1e-30, 1.0},
                           "1e-8", "The eps of this adamw; if not set: that of adamw."),
  };
}

std::vector<Key> group_keys() {
  return {
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
  std::vector<Key> keys;
  for (const auto part :
       {name_and_rate_keys, momentum_keys, moment_keys, tensor_keys, group_keys, gradient_keys}) {
    for (Key& key : part()) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace cohort::config

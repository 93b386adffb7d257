#pragma once

// The table of all optimizers. Included by kernels_<set>.cpp, so that each instruction set has a table with
// its own kernels. docs/adding-an-optimizer.md adds a line.

#include "update/square_loops.h"
#include "update/two_pass_loops.h"

namespace cohort::update {
namespace {

constexpr std::pair kAdamBetas(0.9, 0.999);

constexpr OptimizerRule kRules[] = {
    {OptimizerKind::kSgd,
     "sgd",
     momentum_buffer,
     Needs::kElements,
     sgd_kernel,
     {.learning_rate = 0.05, .momentum = 0.9, .nesterov = false},
     "dampening"},
    {OptimizerKind::kAdam,
     "adam",
     two_averages,
     Needs::kElements,
     adam_kernel,
     {.learning_rate = 0.001, .betas = kAdamBetas, .eps = 1e-8},
     "amsgrad"},
    {OptimizerKind::kAdamW,
     "adamw",
     two_averages,
     Needs::kElements,
     adam_kernel,
     {.learning_rate = 0.001, .betas = kAdamBetas, .eps = 1e-8},
     "amsgrad",
     true},
    {OptimizerKind::kAdagrad,
     "adagrad",
     sum_of_squares,
     Needs::kElements,
     adagrad_kernel,
     {.learning_rate = 0.01, .eps = 1e-10},
     "lr_decay initial_accumulator_value"},
    {OptimizerKind::kRmsprop,
     "rmsprop",
     rmsprop_moments,
     Needs::kElements,
     rmsprop_kernel,
     {.learning_rate = 0.01, .momentum = 0, .eps = 1e-8},
     "alpha centered"},
    {OptimizerKind::kAdadelta,
     "adadelta",
     two_squares,
     Needs::kElements,
     adadelta_kernel,
     {.learning_rate = 1, .eps = 1e-6},
     "rho"},
    {OptimizerKind::kAdamax,
     "adamax",
     average_and_maximum,
     Needs::kElements,
     adamax_kernel,
     {.learning_rate = 0.002, .betas = kAdamBetas, .eps = 1e-8}},
    {OptimizerKind::kNadam,
     "nadam",
     two_averages,
     Needs::kElements,
     nadam_kernel,
     {.learning_rate = 0.002, .betas = kAdamBetas, .eps = 1e-8},
     "momentum_decay decoupled_weight_decay"},
    {OptimizerKind::kRadam,
     "radam",
     two_averages,
     Needs::kElements,
     radam_kernel,
     {.learning_rate = 0.001, .betas = kAdamBetas, .eps = 1e-8},
     "decoupled_weight_decay"},
    {OptimizerKind::kLamb,
     "lamb",
     two_averages,
     Needs::kTensorNorms,
     following_kernel,
     {.learning_rate = 0.001, .betas = kAdamBetas, .eps = 1e-6},
     "",
     false,
     lamb_first_pass},
    {OptimizerKind::kLars,
     "lars",
     momentum_buffer,
     Needs::kTensorNorms,
     lars_kernel,
     {.learning_rate = 0.5, .momentum = 0.9, .nesterov = false, .eps = 1e-8},
     "trust_coefficient",
     false,
     scaling_first_pass},
    {OptimizerKind::kLion,
     "lion",
     one_average,
     Needs::kElements,
     lion_kernel,
     {.learning_rate = 0.0001, .betas = std::pair(0.9, 0.99)},
     "",
     true},
    {OptimizerKind::kAdafactor,
     "adafactor",
     no_moments,
     Needs::kNormsAndWholeTensors,
     following_kernel,
     {.learning_rate = 0.01, .eps = 0x1p-23},
     "beta2_decay eps2 d",
     true,
     scaling_first_pass},
    {OptimizerKind::kMuon,
     "muon",
     momentum_buffer,
     Needs::kWholeTensors,
     following_kernel,
     {.learning_rate = 0.001, .momentum = 0.95, .nesterov = true, .eps = 1e-7},
     "ns_steps match_rms_adamw fallback_learning_rate fallback_betas fallback_eps",
     true,
     muon_first_pass},
};

constexpr bool is_in_order() {
  std::size_t next = 0;
  for (const OptimizerRule& rule : kRules) {
    if (static_cast<std::size_t>(rule.kind) != next++) return false;
  }
  return true;
}
static_assert(is_in_order(), "the table has a line for each OptimizerKind, in the order of the enumerators");

}  // namespace
}  // namespace cohort::update

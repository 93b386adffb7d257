#pragma once

#include "update/optimizer.h"

#include <cohort/random.h>
#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <vector>

namespace cohort {

/// Whether weight decay is added to the gradient, or shrinks the parameter before the update.
enum class WeightDecay { kInGradient, kDecoupled };

/// An optimizer that updates with a kernel of its own.
struct OptimizerCase {
  std::string name;
  OptimizerSettings settings;
  WeightDecay decay = WeightDecay::kInGradient;

  friend std::ostream& operator<<(std::ostream& out, const OptimizerCase& each) { return out << each.name; }
};

inline std::vector<OptimizerCase> all_optimizers() {
  return {
      {"sgd", {.kind = OptimizerKind::kSgd, .momentum = 0}},
      {"momentum", {.kind = OptimizerKind::kSgd}},
      {"nesterov", {.kind = OptimizerKind::kSgd, .nesterov = true}},
      {"dampened", {.kind = OptimizerKind::kSgd, .dampening = 0.25}},
      {"maximized", {.kind = OptimizerKind::kSgd, .maximize = true}},
      {"adam", {.kind = OptimizerKind::kAdam}},
      {"adam_maximized", {.kind = OptimizerKind::kAdam, .maximize = true}},
      {"amsgrad", {.kind = OptimizerKind::kAdam, .amsgrad = true}},
      {"adamw", {.kind = OptimizerKind::kAdamW}, WeightDecay::kDecoupled},
      {"adamw_amsgrad", {.kind = OptimizerKind::kAdamW, .amsgrad = true}, WeightDecay::kDecoupled},
      {"adagrad", {.kind = OptimizerKind::kAdagrad}},
      {"adagrad_falling",
       {.kind = OptimizerKind::kAdagrad, .lr_decay = 0.5, .initial_accumulator_value = 0.25}},
      {"rmsprop", {.kind = OptimizerKind::kRmsprop}},
      {"rmsprop_centered", {.kind = OptimizerKind::kRmsprop, .centered = true}},
      {"rmsprop_momentum", {.kind = OptimizerKind::kRmsprop, .momentum = 0.5}},
      {"rmsprop_both", {.kind = OptimizerKind::kRmsprop, .momentum = 0.5, .alpha = 0.75, .centered = true}},
      {"adadelta", {.kind = OptimizerKind::kAdadelta}},
      {"adadelta_slow", {.kind = OptimizerKind::kAdadelta, .rho = 0.5}},
      {"adamax", {.kind = OptimizerKind::kAdamax}},
      {"nadam", {.kind = OptimizerKind::kNadam}},
      {"nadam_decoupled",
       {.kind = OptimizerKind::kNadam, .momentum_decay = 0.5, .decoupled_weight_decay = true},
       WeightDecay::kDecoupled},
      {"radam", {.kind = OptimizerKind::kRadam}},
      {"radam_decoupled",
       {.kind = OptimizerKind::kRadam, .decoupled_weight_decay = true},
       WeightDecay::kDecoupled},
      {"lion", {.kind = OptimizerKind::kLion}, WeightDecay::kDecoupled},
  };
}

inline constexpr std::size_t kAwkwardCounts[] = {0, 1, 7, 15, 16, 17, 31, 33, 64, 127, 1031};

inline std::string case_name(const testing::TestParamInfo<OptimizerCase>& info) {
  return info.param.name;
}

/// Parameters, gradients and moments of one size, filled from a seed.
struct Arrays {
  std::vector<float> parameters, gradients;
  std::array<std::vector<float>, kMostMoments> moments;

  Arrays(const OptimizerSettings& settings, std::size_t count, std::uint64_t seed)
      : parameters(count), gradients(count) {
    const MomentNames names = moment_names(settings);
    for (std::size_t i = 0; i < kMostMoments; ++i) {
      moments[i].assign(names[i].empty() ? 0 : count, first_moment_value(settings));
    }
    for (std::size_t i = 0; i < count; ++i) {
      parameters[i] = static_cast<float>(RandomStream(seed, 0).normal(i));
    }
    new_gradients(seed, 1);
  }

  void new_gradients(std::uint64_t seed, std::uint64_t step) {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      gradients[i] = static_cast<float>(RandomStream(seed, step).normal(i));
    }
  }

  UpdateSpans spans() {
    UpdateSpans all{.parameters = parameters, .gradients = gradients};
    for (std::size_t i = 0; i < kMostMoments; ++i) {
      all.moments[i] = moments[i].empty() ? nullptr : moments[i].data();
    }
    return all;
  }

  bool operator==(const Arrays&) const = default;
};

}  // namespace cohort

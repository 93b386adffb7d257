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
      {"adam", {.kind = OptimizerKind::kAdam}},
      {"adamw", {.kind = OptimizerKind::kAdamW}, WeightDecay::kDecoupled},
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
    for (std::size_t i = 0; i < kMostMoments; ++i) moments[i].resize(names[i].empty() ? 0 : count);
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

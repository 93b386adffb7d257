#pragma once

#include "update/optimizer.h"

#include <cohort/random.h>
#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <vector>

namespace cohort {

/// An optimizer that updates with a kernel of its own.
struct OptimizerCase {
  std::string name;
  OptimizerSettings settings;

  friend std::ostream& operator<<(std::ostream& out, const OptimizerCase& each) { return out << each.name; }
};

inline std::vector<OptimizerCase> all_optimizers() {
  return {{"sgd", {.kind = OptimizerKind::kSgd, .momentum = 0}},
          {"momentum", {.kind = OptimizerKind::kSgd}},
          {"nesterov", {.kind = OptimizerKind::kSgd, .nesterov = true}},
          {"adam", {.kind = OptimizerKind::kAdam}},
          {"adamw", {.kind = OptimizerKind::kAdamW}}};
}

inline constexpr std::size_t kAwkwardCounts[] = {0, 1, 7, 15, 16, 17, 31, 33, 64, 127, 1031};

inline std::string case_name(const testing::TestParamInfo<OptimizerCase>& info) {
  return info.param.name;
}

/// Parameters, gradients and moments of one size, filled from a seed.
struct Arrays {
  std::vector<float> parameters, gradients, first, second;

  Arrays(const OptimizerSettings& settings, std::size_t count, std::uint64_t seed)
      : parameters(count),
        gradients(count),
        first(num_moments(settings) >= 1 ? count : 0),
        second(num_moments(settings) >= 2 ? count : 0) {
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
    return {.parameters = parameters.data(),
            .gradients = gradients.data(),
            .first = first.empty() ? nullptr : first.data(),
            .second = second.empty() ? nullptr : second.data(),
            .count = parameters.size()};
  }

  bool operator==(const Arrays&) const = default;
};

}  // namespace cohort

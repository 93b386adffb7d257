#pragma once

#include "update/rule.h"

#include <cohort/random.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace cohort {

inline constexpr RuleKind kAllRules[] = {RuleKind::kSgd, RuleKind::kMomentum, RuleKind::kNesterov,
                                         RuleKind::kAdam, RuleKind::kAdamW};
inline constexpr std::size_t kAwkwardCounts[] = {0, 1, 7, 15, 16, 17, 31, 33, 64, 127, 1031};

inline std::string rule_name(const testing::TestParamInfo<RuleKind>& info) {
  return std::string(name(info.param));
}

/// Parameters, gradients and moments of one size, filled from a seed.
struct Arrays {
  std::vector<float> parameters, gradients, first, second;

  Arrays(RuleKind rule, std::size_t count, std::uint64_t seed)
      : parameters(count),
        gradients(count),
        first(num_moments(rule) >= 1 ? count : 0),
        second(num_moments(rule) >= 2 ? count : 0) {
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

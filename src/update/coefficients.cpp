#include "update/coefficients.h"

#include <cmath>
#include <limits>

namespace cohort::update {
namespace {

// 1 - betaᵗ: how much of a moment that began as zero is there by now.
double filled(double beta, std::int64_t count) {
  return 1 - std::pow(beta, static_cast<double>(count));
}

}  // namespace

Coefficients coefficients(const Rule& rule, const UpdateStep& step) {
  const bool is_adaptive = num_moments(rule.kind) == 2;
  const bool is_decoupled = rule.kind == RuleKind::kAdamW;
  const double limit = step.clip_value > 0 ? step.clip_value : std::numeric_limits<double>::infinity();
  const double rate = is_adaptive ? step.learning_rate / filled(rule.beta1, step.count) : step.learning_rate;
  return {.scale = static_cast<float>(step.gradient_scale),
          .limit = static_cast<float>(limit),
          .decay = static_cast<float>(is_decoupled ? 0 : rule.weight_decay),
          .shrink = static_cast<float>(is_decoupled ? 1 - step.learning_rate * rule.weight_decay : 1),
          .momentum = static_cast<float>(rule.momentum),
          .first_new = static_cast<float>(1 - rule.beta1),
          .second_old = static_cast<float>(rule.beta2),
          .second_new = static_cast<float>(1 - rule.beta2),
          .second_factor = static_cast<float>(1 / std::sqrt(filled(rule.beta2, step.count))),
          .epsilon = static_cast<float>(rule.epsilon),
          .rate = static_cast<float>(rate)};
}

}  // namespace cohort::update

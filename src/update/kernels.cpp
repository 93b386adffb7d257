#include "update/kernels.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace cohort::update {
namespace {

// 1 - betaᵗ: the bias of a moment that began as zero.
double bias_correction(double beta, std::int64_t count) {
  return 1 - std::pow(beta, static_cast<double>(count));
}

}  // namespace

Coefficients coefficients(const OptimizerSettings& settings, const UpdateStep& step) {
  const double limit = step.clip_value > 0 ? step.clip_value : std::numeric_limits<double>::infinity();
  const double first_bias = bias_correction(settings.betas.first, step.count);
  const double second_bias = bias_correction(settings.betas.second, step.count);
  return {.scale = static_cast<float>(step.gradient_scale),
          .limit = static_cast<float>(limit),
          .decay = static_cast<float>(settings.weight_decay),
          .shrink = static_cast<float>(1 - step.learning_rate * settings.weight_decay),
          .momentum = static_cast<float>(settings.momentum),
          .first_new = static_cast<float>(1 - settings.betas.first),
          .second_old = static_cast<float>(settings.betas.second),
          .second_new = static_cast<float>(1 - settings.betas.second),
          .second_factor = static_cast<float>(1 / std::sqrt(second_bias)),
          .eps = static_cast<float>(settings.eps),
          .rate = static_cast<float>(step.learning_rate),
          .corrected_rate = static_cast<float>(step.learning_rate / first_bias)};
}

std::vector<InstructionSet> available_sets() {
  std::vector<InstructionSet> sets = {InstructionSet::kGeneric};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) sets.push_back(InstructionSet::kAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    sets.push_back(InstructionSet::kAvx512);
  }
#endif
  return sets;
}

InstructionSet best_set() {
  static const InstructionSet best = available_sets().back();
  return best;
}

Variant variant_of(const OptimizerSettings& settings) {
  const Momentum momentum = settings.momentum == 0 ? Momentum::kNone
                            : settings.nesterov    ? Momentum::kNesterov
                                                   : Momentum::kClassic;
  // As a kernel sees it: a decay that is rounded to 0 is none.
  const bool decays = static_cast<float>(settings.weight_decay) != 0;
  return {.momentum = momentum, .decay = decays ? Decay::kOfGradient : Decay::kNone};
}

Kernels kernels_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::kGeneric:
      return kernels_generic();
    case InstructionSet::kAvx2:
      return kernels_avx2();
    case InstructionSet::kAvx512:
      return kernels_avx512();
  }
  return kernels_generic();
}

Status check_shareable(const OptimizerRule& rule) {
  if (rule.needs == Needs::kElements) return {};
  return Error(ErrorCode::kUsage,
               fmt::format("the optimizer {} needs more of a tensor than the elements that it updates",
                           rule.name))
      .with_remedy(
          "The ranks share the update of each tensor; use an optimizer that updates every element by "
          "itself.");
}

}  // namespace cohort::update

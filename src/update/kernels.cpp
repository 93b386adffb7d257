#include "update/kernels.h"

#include <cmath>
#include <limits>

namespace cohort::update {
namespace {

// 1 - betaᵗ: the bias of a moment that began as zero.
double bias_correction(double beta, std::int64_t count) {
  return 1 - std::pow(beta, static_cast<double>(count));
}

}  // namespace

Coefficients coefficients(const OptimizerSettings& settings, const UpdateStep& step) {
  const bool is_adaptive = num_moments(settings) == 2;
  const bool is_decoupled = settings.kind == OptimizerKind::kAdamW;
  const double limit = step.clip_value > 0 ? step.clip_value : std::numeric_limits<double>::infinity();
  const double rate = is_adaptive ? step.learning_rate / bias_correction(settings.betas.first, step.count)
                                  : step.learning_rate;
  return {
      .scale = static_cast<float>(step.gradient_scale),
      .limit = static_cast<float>(limit),
      .decay = static_cast<float>(is_decoupled ? 0 : settings.weight_decay),
      .shrink = static_cast<float>(is_decoupled ? 1 - step.learning_rate * settings.weight_decay : 1),
      .momentum = static_cast<float>(settings.momentum),
      .first_new = static_cast<float>(1 - settings.betas.first),
      .second_old = static_cast<float>(settings.betas.second),
      .second_new = static_cast<float>(1 - settings.betas.second),
      .second_factor = static_cast<float>(1 / std::sqrt(bias_correction(settings.betas.second, step.count))),
      .eps = static_cast<float>(settings.eps),
      .rate = static_cast<float>(rate)};
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

Momentum momentum_of(const OptimizerSettings& settings) {
  if (settings.kind != OptimizerKind::kSgd || settings.momentum == 0) return Momentum::kNone;
  return settings.nesterov ? Momentum::kNesterov : Momentum::kClassic;
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

}  // namespace cohort::update

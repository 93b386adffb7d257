#include "update/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cohort::update {
namespace {

// 1 - betaᵗ: the bias of a moment that began as zero.
double bias_correction(double beta, std::int64_t count) {
  return 1 - std::pow(beta, static_cast<double>(count));
}

// The factors of formulas with two moments.
void add_moments(Coefficients& c, const OptimizerSettings& settings, const UpdateStep& step) {
  if (!settings.betas) return;
  const auto [beta1, beta2] = *settings.betas;
  c.first_new = static_cast<float>(1 - beta1);
  c.second_old = static_cast<float>(beta2);
  c.second_new = static_cast<float>(1 - beta2);
  c.second_factor = static_cast<float>(1 / std::sqrt(bias_correction(beta2, step.count)));
  c.corrected_rate = static_cast<float>(step.learning_rate / bias_correction(beta1, step.count));
}

// The factors of the second moment of formulas with another name for its decay rate.
void add_second_moment(Coefficients& c, double rate) {
  c.second_old = static_cast<float>(rate);
  c.second_new = static_cast<float>(1 - rate);
}

void add_nadam(Coefficients& c, const OptimizerSettings& settings, const UpdateStep& step) {
  const double product = mu_product(settings, step.count);
  const double mu = nadam_mu(settings, step.count), next = nadam_mu(settings, step.count + 1);
  c.gradient_rate = static_cast<float>(step.learning_rate * (1 - mu) / (1 - product));
  c.corrected_rate = static_cast<float>(step.learning_rate * next / (1 - product * next));
}

void add_radam(Coefficients& c, const OptimizerSettings& settings, const UpdateStep& step) {
  const double beta2 = settings.betas->second;
  const double bias = bias_correction(beta2, step.count);
  const double most = 2 / (1 - beta2) - 1;
  const double length = most - 2 * static_cast<double>(step.count) * (1 - bias) / bias;
  if (length <= 5) return;
  const double factor =
      std::sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length) * bias);
  c.rectified_rate =
      static_cast<float>(step.learning_rate / bias_correction(settings.betas->first, step.count) * factor);
}

}  // namespace

double nadam_mu(const OptimizerSettings& settings, std::int64_t count) {
  const double power = std::pow(0.96, static_cast<double>(count) * settings.momentum_decay);
  return settings.betas->first * (1 - 0.5 * power);
}

// The loop ends where 1 minus the product is 1.
double mu_product(const OptimizerSettings& settings, std::int64_t count) {
  double product = 1;
  for (std::int64_t i = 1; i <= count && product > 0x1p-60; ++i) product *= nadam_mu(settings, i);
  return product;
}

Coefficients coefficients(const OptimizerSettings& given, const UpdateStep& step) {
  const OptimizerSettings settings = with_defaults(given);
  const double limit = step.clip_value > 0 ? step.clip_value : std::numeric_limits<double>::infinity();
  const bool decoupled = decouples_decay(settings);
  Coefficients c{
      .scale = static_cast<float>(settings.maximize ? -step.gradient_scale : step.gradient_scale),
      .limit = static_cast<float>(limit),
      .decay = decoupled ? 0.0f : static_cast<float>(settings.weight_decay),
      .shrink = decoupled ? static_cast<float>(1 - step.learning_rate * settings.weight_decay) : 1.0f,
      .momentum = static_cast<float>(settings.momentum.value_or(0)),
      .undamped = step.count == 1 ? 1.0f : static_cast<float>(1 - settings.dampening),
      .eps = static_cast<float>(settings.eps.value_or(0)),
      .rate = static_cast<float>(step.learning_rate)};
  add_moments(c, settings, step);
  switch (settings.kind) {
    case OptimizerKind::kAdagrad:
      c.rate = static_cast<float>(step.learning_rate /
                                  (1 + static_cast<double>(step.count - 1) * settings.lr_decay));
      break;
    case OptimizerKind::kRmsprop:
      add_second_moment(c, settings.alpha);
      break;
    case OptimizerKind::kAdadelta:
      add_second_moment(c, settings.rho);
      break;
    case OptimizerKind::kNadam:
      add_nadam(c, settings, step);
      break;
    case OptimizerKind::kRadam:
      add_radam(c, settings, step);
      break;
    case OptimizerKind::kLamb:
      c.corrected_rate = static_cast<float>(1 / bias_correction(settings.betas->first, step.count));
      c.rate = static_cast<float>(step.learning_rate * step.tensor_factor);
      break;
    case OptimizerKind::kLars:
      c.trust = static_cast<float>(step.tensor_factor);
      break;
    case OptimizerKind::kAdafactor:
      c.rate =
          static_cast<float>(std::min(step.learning_rate, 1 / std::sqrt(static_cast<double>(step.count))));
      break;
    case OptimizerKind::kMuon:
      c.first_new = static_cast<float>(1 - *settings.momentum);
      c.rate = static_cast<float>(step.learning_rate * step.tensor_factor);
      break;
    default:
      break;
  }
  return c;
}

Variant variant_of(const OptimizerSettings& given) {
  const OptimizerSettings settings = with_defaults(given);
  const Momentum momentum = settings.momentum.value_or(0) == 0  ? Momentum::kNone
                            : settings.nesterov.value_or(false) ? Momentum::kNesterov
                                                                : Momentum::kClassic;
  // As a kernel sees it: a decay that is rounded to 0 is none.
  const bool joins = !decouples_decay(settings) && static_cast<float>(settings.weight_decay) != 0;
  return {.momentum = momentum,
          .decay = joins ? Decay::kOfGradient : Decay::kNone,
          .amsgrad = settings.amsgrad,
          .centered = settings.centered};
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

#pragma once

#include <cohort/export.h>

#include <string_view>
#include <utility>

// How parameters are updated from their gradients. p: parameter, g: gradient, after scaling and clipping;
// m, v: first and second moment, zero at first; η: learning rate; λ: weight decay; μ: momentum; t: number of
// the update, from 1.
//
//   sgd            g += λp; m = μm + g                               p -= ηm
//   sgd, nesterov  g += λp; m = μm + g                               p -= η(g + μm)
//   adam           g += λp; m += (1-β₁)(g-m); v = β₂v + (1-β₂)g²     p -= η m/(1-β₁ᵗ) / (√(v/(1-β₂ᵗ)) + ε)
//   adamw          p -= ηλp; then as adam, without λ
//
// These are the formulas of torch.optim.SGD, Adam and AdamW.

namespace cohort {

enum class OptimizerKind { kSgd, kAdam, kAdamW };

/// The name in job files: `sgd`, `adam`, `adamw`.
COHORT_EXPORT std::string_view name(OptimizerKind kind);

/// An optimizer and its settings. Settings that a kind has no use for are ignored.
struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::kSgd;
  double learning_rate = 0.05;                  ///< before warm-up and learning-rate schedule
  double momentum = 0.9;                        ///< of sgd; 0: plain SGD
  bool nesterov = false;                        ///< of sgd; requires a momentum above 0
  std::pair<double, double> betas{0.9, 0.999};  ///< of adam and adamw
  double eps = 1e-8;                            ///< of adam and adamw
  double weight_decay = 0;

  bool operator==(const OptimizerSettings&) const = default;
};

/// The number of moments that the optimizer keeps for each parameter.
COHORT_EXPORT int num_moments(const OptimizerSettings& settings);

}  // namespace cohort

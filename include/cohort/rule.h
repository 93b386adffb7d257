#pragma once

#include <cohort/export.h>

#include <string_view>

// How parameters change by their gradients, on flat spans of f32. p: parameter, g: gradient, after scaling
// and clipping; m, v: first and second moment; η: learning rate; λ: weight decay; t: number of the update,
// from 1.
//
//   sgd        g += λp                                              p -= ηg
//   momentum   g += λp; m = μm + g                                  p -= ηm
//   nesterov   g += λp; m = μm + g                                  p -= η(g + μm)
//   adam       g += λp; m += (1-β₁)(g-m); v = β₂v + (1-β₂)g²        p -= η m/(1-β₁ᵗ) / (√(v/(1-β₂ᵗ)) + ε)
//   adamw      p -= ηλp; then as adam, without λ
//
// Moments start as zeros.

namespace cohort {

enum class RuleKind { kSgd, kMomentum, kNesterov, kAdam, kAdamW };

/// `sgd`, `momentum`, … as in TOML.
COHORT_EXPORT std::string_view name(RuleKind kind);
/// How many spans of moments it keeps beside the parameters: 0, 1 or 2.
COHORT_EXPORT int num_moments(RuleKind kind);

struct Rule {
  RuleKind kind = RuleKind::kSgd;
  double momentum = 0.9;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};

}  // namespace cohort

#pragma once

#include <cohort/export.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

// clang-format off
// How parameters are updated from their gradients. p: parameter, g: gradient, after scaling and clipping;
// t: number of the update, from 1; η: learning rate; λ: weight decay; μ: momentum. Everything that an
// optimizer keeps is zero at first. For all but adamw, lamb, lars, lion, adafactor and muon g += λp comes
// first.
//
//   sgd        m = μm + (1-τ)g, at first m = g                            p -= ηm        τ: dampening
//     nesterov                                                            p -= η(g + μm)
//   adam       m += (1-β₁)(g-m); v = β₂v + (1-β₂)g²                       p -= η m̂ / (√v̂ + ε)
//                where m̂ = m/(1-β₁ᵗ), v̂ = v/(1-β₂ᵗ)
//     amsgrad  w = max(w, v)                                              p -= η m̂ / (√ŵ + ε)
//   adamw      p -= ηλp; then as adam
//   adagrad    s += g², at first s = initial_accumulator_value;
//                η' = η/(1 + (t-1)lr_decay)                               p -= η' g / (√s + ε)
//   rmsprop    v = αv + (1-α)g²; d = √v + ε                               p -= η g/d
//     centered a += (1-α)(g-a); d = √(v-a²) + ε
//     momentum m = μm + g/d                                               p -= ηm
//   adadelta   v = ρv + (1-ρ)g²; d = g√(u+ε)/√(v+ε); u = ρu + (1-ρ)d²     p -= ηd
//   adamax     m as adam; u = max(β₂u, |g| + ε)                           p -= η m̂ / u
//   nadam      m, v as adam; μₜ = β₁(1 - 0.96^(tψ)/2)                     p -= η (aₜg + bₜm) / (√v̂ + ε)
//                ψ: momentum_decay; aₜ = (1-μₜ)/(1-μ₁…μₜ); bₜ = μₜ₊₁/(1-μ₁…μₜ₊₁)
//   radam      m, v as adam; ρₜ = ρ∞ - 2tβ₂ᵗ/(1-β₂ᵗ), ρ∞ = 2/(1-β₂) - 1
//                if ρₜ > 5                                                p -= η rₜ m̂ √(1-β₂ᵗ) / (√v + ε)
//                otherwise                                                p -= η m̂
//                rₜ² = (ρₜ-4)(ρₜ-2)ρ∞ / ((ρ∞-4)(ρ∞-2)ρₜ)
//   lamb       m, v as adam; r = m̂ / (√v̂ + ε) + λp; φ = ‖p‖/‖r‖           p -= η φ r
//   lars       φ = κ‖p‖ / (‖g‖ + λ‖p‖ + ε); d = φ(g + λp); m = μm + d     p -= ηm        κ: trust_coefficient
//     nesterov                                                            p -= η(d + μm)
//   lion       p -= ηλp; s = sign(m + (1-β₁)(g-m)); m += (1-β₂)(g-m)      p -= ηs
//   adafactor  q = max(eps2, rms p); p -= ηλp; R, C: running means over the rows and columns of g², moved
//                by t^beta2_decay; v = RC / max(mean R, ε);
//                u = g / max(√v, ε)                                       p -= min(η, 1/√t) q u / max(1, rms(u)/d)
//   muon       p -= ηλp; m += (1-μ)(g-m)                                  p -= η s NS(m)
//     nesterov                                                            p -= η s NS(g + μ(m-g))
//                NS(b): ns_steps times X = aX + (bA + cA²)X with A = XXᵀ, from X = b / max(‖b‖, ε);
//                a, b, c: ns_coefficients; s = √max(1, rows/columns), or 0.2√max(rows, columns) with
//                match_rms_adamw
//
// lamb, lars: ‖ ‖ is the norm of a whole tensor; φ = 1 where a norm is 0, and for tensors of less than two
// dimensions. adafactor: rows and columns are the last two dimensions; for tensors of less than two
// dimensions v is a running mean of g². muon: a tensor of more than two dimensions is a matrix with a row for
// each index of the first; tensors of less than two dimensions are updated by adamw, with
// fallback_learning_rate, fallback_betas and fallback_eps, and the same weight decay.
// These are the formulas of torch.optim where it has the optimizer, and so are the names of settings.
// A rounding that makes v-a² negative counts as 0.
// clang-format on

namespace cohort {

enum class OptimizerKind {
  kSgd,
  kAdam,
  kAdamW,
  kAdagrad,
  kRmsprop,
  kAdadelta,
  kAdamax,
  kNadam,
  kRadam,
  kLamb,
  kLars,
  kLion,
  kAdafactor,
  kMuon,
};

/// The name in job files: `sgd`, `adam`, `adamw`, …
COHORT_EXPORT std::string_view name(OptimizerKind kind);

/// An optimizer and its settings. A setting that is not set has the default of the kind: with_defaults().
struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::kSgd;
  std::optional<double> learning_rate{};             ///< before warm-up and learning-rate schedule
  std::optional<double> momentum{};                  ///< sgd, rmsprop, lars, muon; 0: none
  std::optional<bool> nesterov{};                    ///< sgd, lars, muon; requires a momentum above 0
  std::optional<std::pair<double, double>> betas{};  ///< adam and its relatives, lamb, lion
  std::optional<double> eps{};                       ///< all but sgd and lion
  double weight_decay = 0;
  bool maximize = false;                  ///< follows the gradient upwards
  double dampening = 0;                   ///< sgd
  bool amsgrad = false;                   ///< adam, adamw
  double alpha = 0.99;                    ///< rmsprop
  bool centered = false;                  ///< rmsprop
  double rho = 0.9;                       ///< adadelta
  double lr_decay = 0;                    ///< adagrad
  double initial_accumulator_value = 0;   ///< adagrad
  double momentum_decay = 0.004;          ///< nadam
  bool decoupled_weight_decay = false;    ///< nadam, radam: p -= ηλp instead of g += λp
  double trust_coefficient = 0.001;       ///< lars
  double beta2_decay = -0.8;              ///< adafactor
  double eps2 = 1e-3;                     ///< adafactor
  double d = 1;                           ///< adafactor: the largest root mean square of u
  int ns_steps = 5;                       ///< muon
  std::vector<double> ns_coefficients{};  ///< muon; three, or none: 3.4445, -4.775, 2.0315
  bool match_rms_adamw = false;           ///< muon: the size of updates is about that of adamw
  /// muon: of the adamw that updates tensors of less than two dimensions; not set: learning_rate.
  std::optional<double> fallback_learning_rate{};
  std::optional<std::pair<double, double>> fallback_betas{};  ///< likewise
  std::optional<double> fallback_eps{};                       ///< likewise

  bool operator==(const OptimizerSettings&) const = default;
};

/// The same settings; those that the kind uses are set.
COHORT_EXPORT OptimizerSettings with_defaults(OptimizerSettings settings);

/// The number of moments that the optimizer keeps for each element. The means of adafactor are not counted:
/// they have an element for each row and each column.
COHORT_EXPORT int num_moments(const OptimizerSettings& settings);

}  // namespace cohort

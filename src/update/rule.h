#pragma once

#include "base/parallel.h"

#include <cstddef>
#include <cstdint>
#include <span>
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
std::string_view name(RuleKind kind);
/// How many spans of moments it keeps beside the parameters: 0, 1 or 2.
int num_moments(RuleKind kind);

struct Rule {
  RuleKind kind = RuleKind::kSgd;
  double momentum = 0.9;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};

/// What becomes of a gradient once it has been used.
enum class Gradient { kKeep, kZero };

/// What is special about one update.
struct UpdateStep {
  std::int64_t count = 1;     ///< updates of these parameters, this one included: 1, 2, …
  double learning_rate = 0;   ///< η
  double gradient_scale = 1;  ///< gradients are first multiplied by this
  double clip_value = 0;      ///< and then cut to ±clip_value; 0: they are not
  Gradient gradient = Gradient::kKeep;
};

/// Spans of `count` elements that do not overlap. Moments that the rule does not have are null.
struct UpdateSpans {
  float* parameters = nullptr;
  float* gradients = nullptr;
  float* first = nullptr;
  float* second = nullptr;
  std::size_t count = 0;

  UpdateSpans subspan(std::size_t from, std::size_t length) const;
};

/// One update. Every element is computed alone and without fused operations: the bits are the same on every
/// machine, and however spans are cut. A gradient that is kept is not written.
///
/// Cost: one pass over the spans, at memory speed, with the widest instructions of this machine.
void apply(const Rule& rule, const UpdateStep& step, const UpdateSpans& spans);
/// The same on several threads.
void apply(const Rule& rule, const UpdateStep& step, const UpdateSpans& spans, const Parallel& parallel);

/// The sum of squares, in double. The order of additions depends on the number of values alone: the same bits
/// on every machine.
double square_sum(std::span<const float> values);

/// By what gradients of this norm are scaled so that the norm is at most `max_norm`: 1 or less. A norm that
/// is not finite gives one that is not finite or 0; look at it before.
double clip_scale(double norm, double max_norm);

}  // namespace cohort

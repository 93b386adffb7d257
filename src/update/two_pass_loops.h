#pragma once

// Loops of optimizers that make two passes: two_passes.h. As loops.h.

#include "update/adam_loops.h"

namespace cohort::update {
namespace {

inline void lamb_direction(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  const float* __restrict p = parameters_of(spans);
  float* __restrict d = spans.directions;
  float* __restrict m = spans.moments[0];
  float* __restrict v = spans.moments[1];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<Decay::kNone>(c, d[i], p[i]);
    const float first = advanced(c, m[i], gradient);
    const float second = advanced_square(c, v[i], gradient);
    m[i] = first;
    v[i] = second;
    d[i] = c.corrected_rate * first / denominator(c, second) + c.decay * p[i];
  }
}

inline void scaled_direction(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict d = spans.directions;
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) d[i] = prepared<Decay::kNone>(c, d[i], 0);
}

template <Momentum kMomentum>
void muon_direction(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict d = spans.directions;
  float* __restrict m = spans.moments[0];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<Decay::kNone>(c, d[i], 0);
    const float first = advanced(c, m[i], gradient);
    m[i] = first;
    d[i] = kMomentum == Momentum::kNesterov ? gradient + c.momentum * (first - gradient) : first;
  }
}

// The second pass of optimizers whose directions are complete.
inline void follow_direction(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict d = gradients_of(spans);
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) p[i] = p[i] * c.shrink - c.rate * d[i];
}

template <Momentum kMomentum>
void lars_update(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  float* __restrict m = spans.moments[0];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    float change = c.trust * (g[i] + c.decay * p[i]);
    if constexpr (kMomentum != Momentum::kNone) {
      const float first = c.momentum * m[i] + change;
      m[i] = first;
      change = kMomentum == Momentum::kNesterov ? change + c.momentum * first : first;
    }
    p[i] -= c.rate * change;
  }
}

inline Kernel lamb_first_pass(const Variant&) {
  return lamb_direction;
}
inline Kernel scaling_first_pass(const Variant&) {
  return scaled_direction;
}
inline Kernel muon_first_pass(const Variant& variant) {
  if (variant.momentum == Momentum::kNone) return scaled_direction;
  return variant.momentum == Momentum::kNesterov ? muon_direction<Momentum::kNesterov>
                                                 : muon_direction<Momentum::kClassic>;
}
inline Kernel following_kernel(const Variant&) {
  return follow_direction;
}
inline Kernel lars_kernel(const Variant& variant) {
  switch (variant.momentum) {
    case Momentum::kNone:
      return lars_update<Momentum::kNone>;
    case Momentum::kClassic:
      return lars_update<Momentum::kClassic>;
    case Momentum::kNesterov:
      return lars_update<Momentum::kNesterov>;
  }
  return nullptr;
}

inline MomentNames no_moments(const Variant&) {
  return {};
}

}  // namespace
}  // namespace cohort::update

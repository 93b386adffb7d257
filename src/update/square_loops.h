#pragma once

// Loops of optimizers that divide by the root of a sum or a mean of squares, and of lion. As loops.h.

#include "update/loops.h"

namespace cohort::update {
namespace {

template <Decay kDecay>
void adagrad(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  float* __restrict s = spans.moments[0];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<kDecay>(c, g[i], p[i]);
    const float sum = s[i] + gradient * gradient;
    s[i] = sum;
    p[i] -= c.rate * gradient / (__builtin_sqrtf(sum) + c.eps);
  }
}

enum class Centered { kNo, kYes };

template <Decay kDecay, Momentum kMomentum, Centered kCentered>
void rmsprop(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  float* __restrict v = spans.moments[0];
  float* __restrict m = spans.moments[1];
  float* __restrict a = spans.moments[2];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<kDecay>(c, g[i], p[i]);
    float square = c.second_old * v[i] + c.second_new * gradient * gradient;
    v[i] = square;
    if constexpr (kCentered == Centered::kYes) {
      const float mean = a[i] + c.second_new * (gradient - a[i]);
      a[i] = mean;
      square = at_least(square - mean * mean, 0.0f);
    }
    float change = gradient / (__builtin_sqrtf(square) + c.eps);
    if constexpr (kMomentum != Momentum::kNone) {
      change = c.momentum * m[i] + change;
      m[i] = change;
    }
    p[i] -= c.rate * change;
  }
}

template <Decay kDecay>
void adadelta(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  float* __restrict v = spans.moments[0];
  float* __restrict u = spans.moments[1];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<kDecay>(c, g[i], p[i]);
    const float square = c.second_old * v[i] + c.second_new * gradient * gradient;
    const float change = __builtin_sqrtf(u[i] + c.eps) / __builtin_sqrtf(square + c.eps) * gradient;
    v[i] = square;
    u[i] = c.second_old * u[i] + c.second_new * change * change;
    p[i] -= c.rate * change;
  }
}

inline void lion(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  float* __restrict m = spans.moments[0];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<Decay::kNone>(c, g[i], p[i]);
    const float direction = m[i] + c.first_new * (gradient - m[i]);
    const float sign = direction > 0 ? 1.0f : direction < 0 ? -1.0f : direction;  // a NaN stays
    m[i] += c.second_new * (gradient - m[i]);
    p[i] = p[i] * c.shrink - c.rate * sign;
  }
}

template <Decay kDecay>
Kernel rmsprop_with_decay(const Variant& variant) {
  if (variant.momentum == Momentum::kNone) {
    return variant.centered ? rmsprop<kDecay, Momentum::kNone, Centered::kYes>
                            : rmsprop<kDecay, Momentum::kNone, Centered::kNo>;
  }
  return variant.centered ? rmsprop<kDecay, Momentum::kClassic, Centered::kYes>
                          : rmsprop<kDecay, Momentum::kClassic, Centered::kNo>;
}

inline Kernel adagrad_kernel(const Variant& variant) {
  return COHORT_WITH_DECAY(variant, adagrad);
}
inline Kernel rmsprop_kernel(const Variant& variant) {
  return variant.decay == Decay::kNone ? rmsprop_with_decay<Decay::kNone>(variant)
                                       : rmsprop_with_decay<Decay::kOfGradient>(variant);
}
inline Kernel adadelta_kernel(const Variant& variant) {
  return COHORT_WITH_DECAY(variant, adadelta);
}
inline Kernel lion_kernel(const Variant&) {
  return lion;
}

inline MomentNames sum_of_squares(const Variant&) {
  return {"sum"};
}
inline MomentNames rmsprop_moments(const Variant& variant) {
  return {"square_avg", momentum_buffer(variant)[0], variant.centered ? "grad_avg" : std::string_view()};
}
inline MomentNames two_squares(const Variant&) {
  return {"square_avg", "acc_delta"};
}
inline MomentNames one_average(const Variant&) {
  return {"exp_avg"};
}

}  // namespace
}  // namespace cohort::update

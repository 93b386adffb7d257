#pragma once

// Loops of Adam and its relatives, which keep a mean of gradients and one of their squares. As loops.h.

#include "update/loops.h"

namespace cohort::update {
namespace {

// The mean of gradients after this one.
inline float advanced(const Coefficients& c, float mean, float gradient) {
  return mean + c.first_new * (gradient - mean);
}
// The mean of squares after this gradient.
inline float advanced_square(const Coefficients& c, float mean, float gradient) {
  return c.second_old * mean + c.second_new * gradient * gradient;
}
inline float denominator(const Coefficients& c, float square) {
  return __builtin_sqrtf(square) * c.second_factor + c.eps;
}

template <Decay kDecay>
void adam(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  float* __restrict m = spans.moments[0];
  float* __restrict v = spans.moments[1];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<kDecay>(c, g[i], p[i]);
    const float first = advanced(c, m[i], gradient);
    const float second = advanced_square(c, v[i], gradient);
    m[i] = first;
    v[i] = second;
    p[i] = p[i] * c.shrink - c.corrected_rate * first / denominator(c, second);
  }
}

template <Decay kDecay>
void amsgrad(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  float* __restrict m = spans.moments[0];
  float* __restrict v = spans.moments[1];
  float* __restrict w = spans.moments[2];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<kDecay>(c, g[i], p[i]);
    const float first = advanced(c, m[i], gradient);
    const float second = advanced_square(c, v[i], gradient);
    const float most = at_least(second, w[i]);
    m[i] = first;
    v[i] = second;
    w[i] = most;
    p[i] = p[i] * c.shrink - c.corrected_rate * first / denominator(c, most);
  }
}

template <Decay kDecay>
void adamax(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  float* __restrict m = spans.moments[0];
  float* __restrict u = spans.moments[1];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<kDecay>(c, g[i], p[i]);
    const float first = advanced(c, m[i], gradient);
    const float most = at_least(__builtin_fabsf(gradient) + c.eps, c.second_old * u[i]);
    m[i] = first;
    u[i] = most;
    p[i] -= c.corrected_rate * first / most;
  }
}

template <Decay kDecay>
void nadam(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  float* __restrict m = spans.moments[0];
  float* __restrict v = spans.moments[1];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<kDecay>(c, g[i], p[i]);
    const float first = advanced(c, m[i], gradient);
    const float second = advanced_square(c, v[i], gradient);
    m[i] = first;
    v[i] = second;
    const float change = c.gradient_rate * gradient + c.corrected_rate * first;
    p[i] = p[i] * c.shrink - change / denominator(c, second);
  }
}

enum class Rectified { kNo, kYes };

template <Decay kDecay, Rectified kRectified>
void radam_loop(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  float* __restrict m = spans.moments[0];
  float* __restrict v = spans.moments[1];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<kDecay>(c, g[i], p[i]);
    const float first = advanced(c, m[i], gradient);
    const float second = advanced_square(c, v[i], gradient);
    m[i] = first;
    v[i] = second;
    const float change = kRectified == Rectified::kYes
                             ? c.rectified_rate * first / (__builtin_sqrtf(second) + c.eps)
                             : c.corrected_rate * first;
    p[i] = p[i] * c.shrink - change;
  }
}

template <Decay kDecay>
void radam(const Coefficients& c, const UpdateSpans& spans) {
  if (c.rectified_rate != 0) return radam_loop<kDecay, Rectified::kYes>(c, spans);
  radam_loop<kDecay, Rectified::kNo>(c, spans);
}

inline Kernel adam_kernel(const Variant& variant) {
  return variant.amsgrad ? COHORT_WITH_DECAY(variant, amsgrad) : COHORT_WITH_DECAY(variant, adam);
}
inline Kernel adamax_kernel(const Variant& variant) {
  return COHORT_WITH_DECAY(variant, adamax);
}
inline Kernel nadam_kernel(const Variant& variant) {
  return COHORT_WITH_DECAY(variant, nadam);
}
inline Kernel radam_kernel(const Variant& variant) {
  return COHORT_WITH_DECAY(variant, radam);
}

inline MomentNames two_averages(const Variant& variant) {
  return {"exp_avg", "exp_avg_sq", variant.amsgrad ? "max_exp_avg_sq" : std::string_view()};
}
inline MomentNames average_and_maximum(const Variant&) {
  return {"exp_avg", "exp_inf"};
}

}  // namespace
}  // namespace cohort::update

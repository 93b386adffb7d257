#pragma once

// Included by kernels_<set>.cpp, each with its own compiler flags. Everything here is in an unnamed
// namespace, so that the linker does not replace the copy of one instruction set by the copy of another.
// Functions of the standard library are avoided for the same reason, unless the compiler inlines them.

#include "update/kernels.h"

#include <cstring>

namespace cohort::update {
namespace {

inline float* parameters_of(const UpdateSpans& spans) {
  return reinterpret_cast<float*>(spans.parameters.data);
}
inline const float* gradients_of(const UpdateSpans& spans) {
  return reinterpret_cast<const float*>(spans.gradients.data);
}

// Written so that each compiles to one instruction and passes a NaN on.
inline float at_most(float value, float limit) {
  return limit < value ? limit : value;
}
inline float at_least(float value, float limit) {
  return limit > value ? limit : value;
}

// The gradient of one element after scaling, clipping and weight decay.
template <Decay kDecay>
inline float prepared(const Coefficients& c, float gradient, float parameter) {
  const float cut = at_least(at_most(gradient * c.scale, c.limit), -c.limit);
  return kDecay == Decay::kNone ? cut : cut + c.decay * parameter;
}

// The loop of a variant whose weight decay joins the gradient, or of one without weight decay.
#define COHORT_WITH_DECAY(variant, loop) \
  ((variant).decay == Decay::kNone ? (loop<Decay::kNone>) : (loop<Decay::kOfGradient>))

template <Decay kDecay>
void sgd(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    p[i] -= c.rate * prepared<kDecay>(c, g[i], p[i]);
  }
}

template <Momentum kMomentum, Decay kDecay>
void momentum(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = parameters_of(spans);
  const float* __restrict g = gradients_of(spans);
  float* __restrict m = spans.moments[0];
  const std::size_t count = spans.parameters.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = prepared<kDecay>(c, g[i], p[i]);
    const float first = c.momentum * m[i] + c.undamped * gradient;
    m[i] = first;
    p[i] -= c.rate * (kMomentum == Momentum::kNesterov ? gradient + c.momentum * first : first);
  }
}

template <Decay kDecay>
Kernel sgd_with_decay(Momentum kind) {
  switch (kind) {
    case Momentum::kNone:
      return sgd<kDecay>;
    case Momentum::kClassic:
      return momentum<Momentum::kClassic, kDecay>;
    case Momentum::kNesterov:
      return momentum<Momentum::kNesterov, kDecay>;
  }
  return nullptr;
}

inline Kernel sgd_kernel(const Variant& variant) {
  return variant.decay == Decay::kNone ? sgd_with_decay<Decay::kNone>(variant.momentum)
                                       : sgd_with_decay<Decay::kOfGradient>(variant.momentum);
}

inline MomentNames momentum_buffer(const Variant& variant) {
  return {variant.momentum == Momentum::kNone ? std::string_view() : "momentum_buffer"};
}

// NOLINTNEXTLINE(misc-definitions-in-headers): one copy for each instruction set is the point
void square_sums_loop(const float* values, std::size_t num_blocks, double* sums) {
  typedef float Floats __attribute__((vector_size(32)));
  typedef double Doubles __attribute__((vector_size(64)));
  constexpr std::size_t kHalf = kSquareBlock / 2;
  for (std::size_t block = 0; block < num_blocks; ++block) {
    Floats narrow[2];
    std::memcpy(narrow, values + block * kSquareBlock, sizeof narrow);
    static_assert(sizeof narrow == 2 * kHalf * sizeof(float));
    const Doubles first = __builtin_convertvector(narrow[0], Doubles);
    const Doubles second = __builtin_convertvector(narrow[1], Doubles);
    const Doubles sum = first * first + second * second;
    sums[block] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

}  // namespace
}  // namespace cohort::update

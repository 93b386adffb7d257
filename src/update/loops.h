#pragma once

// Included by kernels_<set>.cpp, each with its own compiler flags: everything here is in an unnamed
// namespace, so that no copy replaces another at link time. No function of the standard library that is not
// built in, for the same reason.

#include "update/kernels.h"

#include <cstring>

namespace cohort::update {
namespace {

// Written so that the compiler makes one instruction of each, and a NaN stays one.
inline float at_most(float value, float limit) {
  return limit < value ? limit : value;
}
inline float at_least(float value, float limit) {
  return limit > value ? limit : value;
}

// The gradient of one element as the rule sees it.
template <Decay kDecay>
inline float seen(const Coefficients& c, float gradient, float parameter) {
  const float cut = at_least(at_most(gradient * c.scale, c.limit), -c.limit);
  return kDecay == Decay::kNone ? cut : cut + c.decay * parameter;
}

template <Decay kDecay, Gradient kGradient>
void sgd(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = spans.parameters;
  float* __restrict g = spans.gradients;
  const std::size_t count = spans.count;
  for (std::size_t i = 0; i < count; ++i) {
    p[i] -= c.rate * seen<kDecay>(c, g[i], p[i]);
    if constexpr (kGradient == Gradient::kZero) g[i] = 0;
  }
}

template <RuleKind kRule, Decay kDecay, Gradient kGradient>
void momentum(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = spans.parameters;
  float* __restrict g = spans.gradients;
  float* __restrict m = spans.first;
  const std::size_t count = spans.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = seen<kDecay>(c, g[i], p[i]);
    const float first = c.momentum * m[i] + gradient;
    m[i] = first;
    p[i] -= c.rate * (kRule == RuleKind::kNesterov ? gradient + c.momentum * first : first);
    if constexpr (kGradient == Gradient::kZero) g[i] = 0;
  }
}

template <RuleKind kRule, Decay kDecay, Gradient kGradient>
void adam(const Coefficients& given, const UpdateSpans& spans) {
  const Coefficients c = given;
  float* __restrict p = spans.parameters;
  float* __restrict g = spans.gradients;
  float* __restrict m = spans.first;
  float* __restrict v = spans.second;
  const std::size_t count = spans.count;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = seen<kDecay>(c, g[i], p[i]);
    const float first = m[i] + c.first_new * (gradient - m[i]);
    const float second = c.second_old * v[i] + c.second_new * gradient * gradient;
    m[i] = first;
    v[i] = second;
    const float before = kRule == RuleKind::kAdamW ? p[i] * c.shrink : p[i];
    p[i] = before - c.rate * first / (__builtin_sqrtf(second) * c.second_factor + c.epsilon);
    if constexpr (kGradient == Gradient::kZero) g[i] = 0;
  }
}

template <Decay kDecay, Gradient kGradient>
Kernels::Update loop_of(RuleKind rule) {
  switch (rule) {
    case RuleKind::kSgd:
      return sgd<kDecay, kGradient>;
    case RuleKind::kMomentum:
      return momentum<RuleKind::kMomentum, kDecay, kGradient>;
    case RuleKind::kNesterov:
      return momentum<RuleKind::kNesterov, kDecay, kGradient>;
    case RuleKind::kAdam:
      return adam<RuleKind::kAdam, kDecay, kGradient>;
    case RuleKind::kAdamW:
      return adam<RuleKind::kAdamW, Decay::kNone, kGradient>;
  }
  return nullptr;
}

// NOLINTNEXTLINE(misc-definitions-in-headers): one copy for each instruction set is the point
Kernels::Update update_loop(const KernelKind& kind) {
  const bool is_kept = kind.gradient == Gradient::kKeep;
  if (kind.decay == Decay::kNone) {
    return is_kept ? loop_of<Decay::kNone, Gradient::kKeep>(kind.rule)
                   : loop_of<Decay::kNone, Gradient::kZero>(kind.rule);
  }
  return is_kept ? loop_of<Decay::kOfGradient, Gradient::kKeep>(kind.rule)
                 : loop_of<Decay::kOfGradient, Gradient::kZero>(kind.rule);
}

// Element i belongs to sum i mod 32; the 32 sums are added in pairs at the end.
// NOLINTNEXTLINE(misc-definitions-in-headers): one copy for each instruction set is the point
double square_sum_loop(const float* values, std::size_t count) {
  typedef float Floats __attribute__((vector_size(32)));
  typedef double Doubles __attribute__((vector_size(64)));
  constexpr std::size_t kLanes = 8;
  constexpr std::size_t kSums = 32;
  Doubles a{}, b{}, c{}, d{};
  const auto add = [](Doubles& sum, const float* from) {
    Floats narrow;
    std::memcpy(&narrow, from, sizeof narrow);
    const Doubles wide = __builtin_convertvector(narrow, Doubles);
    sum += wide * wide;
  };
  const auto add_all = [&](const float* from) {
    add(a, from);
    add(b, from + kLanes);
    add(c, from + 2 * kLanes);
    add(d, from + 3 * kLanes);
  };
  std::size_t i = 0;
  for (; i + kSums <= count; i += kSums) add_all(values + i);
  if (i < count) {
    float rest[kSums] = {};
    std::memcpy(rest, values + i, (count - i) * sizeof(float));
    add_all(rest);
  }
  const Doubles sum = (a + b) + (c + d);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace
}  // namespace cohort::update

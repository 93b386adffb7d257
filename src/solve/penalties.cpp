#include "solve/penalties.h"

#include "solve/vectors.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cohort::solve {
namespace {

template <class T>
double penalty_of_block(const Penalty& penalty, const T* x, std::size_t count) {
  std::array<double, kBlock> parts{};
  for (std::size_t i = 0; i < count; ++i) {
    const auto each = static_cast<double>(x[i]);
    parts[i] = penalty.l1 * std::abs(each) + penalty.l2 / 2 * each * each;
  }
  for (std::size_t width = kBlock / 2; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) parts[i] += parts[i + width];
  }
  return parts[0];
}

// The slope to the right is g + l1 from 0 on, that to the left g − l1 up to 0.
double pseudo_gradient_of(double x, double g, double l1) {
  if (x != 0) return x > 0 ? g + l1 : g - l1;
  if (g + l1 < 0) return g + l1;
  if (g - l1 > 0) return g - l1;
  return 0;
}

/// Calls `body(i, penalty)` for every element that has an l1 penalty.
template <class Body>
void for_l1(const std::vector<Penalty>& all, const Body& body) {
  for (const Penalty& penalty : all) {
    if (penalty.l1 == 0) continue;
    for (std::size_t i = penalty.first; i < penalty.first + penalty.count; ++i) body(i, penalty);
  }
}

template <class T>
const T* elements(ConstNumbers numbers) {
  return reinterpret_cast<const T*>(numbers.data);
}
template <class T>
T* elements(Numbers numbers) {
  return reinterpret_cast<T*>(numbers.data);
}

}  // namespace

Penalties::Penalties(std::vector<Penalty> all) : all_(std::move(all)) {
  for (const Penalty& penalty : all_) {
    COHORT_CHECK_EQ(penalty.first % kBlock, 0u);
    has_l1_ = has_l1_ || penalty.l1 != 0;
    has_l2_ = has_l2_ || penalty.l2 != 0;
  }
}

void Penalties::add_value(ConstNumbers point, ExactSum& sum) const {
  with_type(point.dtype, [&](auto type) {
    const auto* const x = elements<decltype(type)>(point);
    for (const Penalty& penalty : all_) {
      for (std::size_t i = 0; i < penalty.count; i += kBlock) {
        sum.add(penalty_of_block(penalty, x + penalty.first + i, std::min(kBlock, penalty.count - i)));
      }
    }
  });
}

void Penalties::add_gradient(ConstNumbers point, Numbers gradient) const {
  with_type(point.dtype, [&](auto type) {
    using T = decltype(type);
    const T* const x = elements<T>(point);
    T* const g = elements<T>(gradient);
    for (const Penalty& penalty : all_) {
      if (penalty.l2 == 0) continue;
      for (std::size_t i = penalty.first; i < penalty.first + penalty.count; ++i) {
        g[i] = static_cast<T>(static_cast<double>(g[i]) + penalty.l2 * static_cast<double>(x[i]));
      }
    }
  });
}

void Penalties::pseudo_gradient(ConstNumbers point, ConstNumbers gradient, Numbers to) const {
  copy(gradient, to);
  with_type(point.dtype, [&](auto type) {
    using T = decltype(type);
    const T *const x = elements<T>(point), *const g = elements<T>(gradient);
    T* const v = elements<T>(to);
    for_l1(all_, [&](std::size_t i, const Penalty& penalty) {
      v[i] = static_cast<T>(
          pseudo_gradient_of(static_cast<double>(x[i]), static_cast<double>(g[i]), penalty.l1));
    });
  });
}

void Penalties::project_direction(ConstNumbers pseudo_gradient, Numbers direction) const {
  with_type(direction.dtype, [&](auto type) {
    using T = decltype(type);
    const T* const v = elements<T>(pseudo_gradient);
    T* const d = elements<T>(direction);
    for_l1(all_, [&](std::size_t i, const Penalty&) {
      const bool is_downhill = (d[i] > 0 && v[i] < 0) || (d[i] < 0 && v[i] > 0);
      if (!is_downhill) d[i] = 0;
    });
  });
}

void Penalties::project_point(ConstNumbers point, ConstNumbers pseudo_gradient, Numbers trial) const {
  with_type(trial.dtype, [&](auto type) {
    using T = decltype(type);
    const T *const x = elements<T>(point), *const v = elements<T>(pseudo_gradient);
    T* const t = elements<T>(trial);
    for_l1(all_, [&](std::size_t i, const Penalty&) {
      const T side = x[i] != 0 ? x[i] : -v[i];
      const bool is_inside = (t[i] > 0 && side > 0) || (t[i] < 0 && side < 0);
      if (!is_inside) t[i] = 0;
    });
  });
}

}  // namespace cohort::solve

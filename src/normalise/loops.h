#pragma once

// Included by kernels_<set>.cpp, each with its own compiler flags: everything here is in an unnamed
// namespace, so that no copy replaces another at link time.
//
// Sums are kept in lanes, added up at the end in a fixed order, so that the bits do not depend on how many
// lanes the processor has.

#include "base/formats.h"
#include "normalise/kernels.h"

#include <cstring>

namespace cohort::normalise {
namespace {

constexpr std::size_t kLanes = 16;
typedef double Doubles __attribute__((vector_size(kLanes * sizeof(double))));

#define COHORT_LOOP inline __attribute__((always_inline))

template <class Format>
COHORT_LOOP void widen(const typename Format::Stored* from, Doubles& to) {
  typedef typename Format::Value Values __attribute__((vector_size(kLanes * sizeof(typename Format::Value))));
  Values values;
  for (std::size_t lane = 0; lane < kLanes; ++lane) values[lane] = Format::load(from[lane]);
  to = __builtin_convertvector(values, Doubles);
}

COHORT_LOOP void read(const double* from, Doubles& to) {
  std::memcpy(&to, from, sizeof to);
}

COHORT_LOOP double total(const Doubles& lanes) {
  double sums[kLanes];
  std::memcpy(sums, &lanes, sizeof sums);
  for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  }
  return sums[0];
}

/// The terms of Σ(x - pivot) and Σ(x - pivot)².
template <class Format>
struct Moments {
  using Stored = typename Format::Stored;
  const Stored* x;
  Moments(const std::byte* of_x, const std::byte*) : x(reinterpret_cast<const Stored*>(of_x)) {}

  COHORT_LOOP void lanes(std::size_t i, const Doubles& pivot, Doubles& first, Doubles& second) const {
    widen<Format>(x + i, first);
    first -= pivot;
    second = first * first;
  }
  COHORT_LOOP void one(std::size_t i, double pivot, double& first, double& second) const {
    first = static_cast<double>(Format::load(x[i])) - pivot;
    second = first * first;
  }
};

/// The terms of Σg and Σg(x - pivot).
template <class Format>
struct Products {
  using Stored = typename Format::Stored;
  const Stored* x;
  const Stored* g;
  Products(const std::byte* of_x, const std::byte* of_g)
      : x(reinterpret_cast<const Stored*>(of_x)), g(reinterpret_cast<const Stored*>(of_g)) {}

  COHORT_LOOP void lanes(std::size_t i, const Doubles& pivot, Doubles& first, Doubles& second) const {
    widen<Format>(g + i, first);
    widen<Format>(x + i, second);
    second = first * (second - pivot);
  }
  COHORT_LOOP void one(std::size_t i, double pivot, double& first, double& second) const {
    first = static_cast<double>(Format::load(g[i]));
    second = first * (static_cast<double>(Format::load(x[i])) - pivot);
  }
};

template <class Terms>
void add_runs(const std::byte* x, const std::byte* g, const Runs& runs, const double* pivot, double* sums) {
  const Terms terms(x, g);
  const double own_pivot = *pivot;
  const Doubles pivots = Doubles{} + own_pivot;
  Doubles first{}, second{}, a, b;
  double last_first = 0, last_second = 0, c = 0, d = 0;  // of the numbers that fill no lanes
  for (std::size_t run = 0; run < runs.number; ++run) {
    const std::size_t begin = run * runs.stride;
    std::size_t i = 0;
    for (; i + kLanes <= runs.length; i += kLanes) {
      terms.lanes(begin + i, pivots, a, b);
      first += a;
      second += b;
    }
    for (; i < runs.length; ++i) {
      terms.one(begin + i, own_pivot, c, d);
      last_first += c;
      last_second += d;
    }
  }
  sums[0] += total(first) + last_first;
  sums[1] += total(second) + last_second;
}

// Four rows at a time: the sums of a channel are read and written once for these.
template <class Terms>
void add_rows(const std::byte* x, const std::byte* g, const Rows& rows, const double* pivot, double* sums) {
  constexpr std::size_t kRows = 4;
  const Terms terms(x, g);
  const std::size_t width = rows.channels;
  for (std::size_t row = 0; row < rows.number; row += kRows) {
    const std::size_t num_rows = rows.number - row < kRows ? rows.number - row : kRows;
    std::size_t c = 0;
    for (; c + kLanes <= width; c += kLanes) {
      Doubles pivots, first{}, second{}, a, b, sum;
      read(pivot + c, pivots);
      for (std::size_t r = 0; r < num_rows; ++r) {
        terms.lanes((row + r) * width + c, pivots, a, b);
        first += a;
        second += b;
      }
      read(sums + c, sum);
      sum += first;
      std::memcpy(sums + c, &sum, sizeof sum);
      read(sums + width + c, sum);
      sum += second;
      std::memcpy(sums + width + c, &sum, sizeof sum);
    }
    for (; c < width; ++c) {
      double first = 0, second = 0, a = 0, b = 0;
      for (std::size_t r = 0; r < num_rows; ++r) {
        terms.one((row + r) * width + c, pivot[c], a, b);
        first += a;
        second += b;
      }
      sums[c] += first;
      sums[width + c] += second;
    }
  }
}

/// x·a + b.
template <class Format>
struct Affine {
  using Stored = typename Format::Stored;
  using Value = typename Format::Value;

  static COHORT_LOOP void run(const Stored* __restrict x, const Stored*, Stored* __restrict to,
                              std::size_t count, const Value* factors) {
    const Value a = factors[0], b = factors[1];
    for (std::size_t i = 0; i < count; ++i) to[i] = Format::store(Format::load(x[i]) * a + b);
  }
  static COHORT_LOOP void row(const Stored* __restrict x, const Stored*, Stored* __restrict to,
                              std::size_t width, const Value* __restrict factors) {
    for (std::size_t c = 0; c < width; ++c) {
      to[c] = Format::store(Format::load(x[c]) * factors[c] + factors[width + c]);
    }
  }
};

/// g·a + x·b + c.
template <class Format>
struct Gradient {
  using Stored = typename Format::Stored;
  using Value = typename Format::Value;

  static COHORT_LOOP void run(const Stored* __restrict x, const Stored* __restrict g, Stored* __restrict to,
                              std::size_t count, const Value* factors) {
    const Value a = factors[0], b = factors[1], c = factors[2];
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = Format::store(Format::load(g[i]) * a + (Format::load(x[i]) * b + c));
    }
  }
  static COHORT_LOOP void row(const Stored* __restrict x, const Stored* __restrict g, Stored* __restrict to,
                              std::size_t width, const Value* __restrict factors) {
    for (std::size_t c = 0; c < width; ++c) {
      to[c] = Format::store(Format::load(g[c]) * factors[c] +
                            (Format::load(x[c]) * factors[width + c] + factors[2 * width + c]));
    }
  }
};

// A map that does not read g gets null.
template <class Stored>
COHORT_LOOP const Stored* gradient_at(const std::byte* g, std::size_t begin) {
  return g == nullptr ? nullptr : reinterpret_cast<const Stored*>(g) + begin;
}

template <class Map>
void map_runs(const std::byte* x, const std::byte* g, std::byte* to, const Runs& runs, const void* factors) {
  using Stored = typename Map::Stored;
  for (std::size_t run = 0; run < runs.number; ++run) {
    const std::size_t begin = run * runs.stride;
    Map::run(reinterpret_cast<const Stored*>(x) + begin, gradient_at<Stored>(g, begin),
             reinterpret_cast<Stored*>(to) + begin, runs.length,
             static_cast<const typename Map::Value*>(factors));
  }
}

template <class Map>
void map_rows(const std::byte* x, const std::byte* g, std::byte* to, const Rows& rows, const void* factors) {
  using Stored = typename Map::Stored;
  for (std::size_t row = 0; row < rows.number; ++row) {
    const std::size_t begin = row * rows.channels;
    Map::row(reinterpret_cast<const Stored*>(x) + begin, gradient_at<Stored>(g, begin),
             reinterpret_cast<Stored*>(to) + begin, rows.channels,
             static_cast<const typename Map::Value*>(factors));
  }
}

template <class Format>
Kernels kernels_in() {
  return {.moments = {add_runs<Moments<Format>>, add_rows<Moments<Format>>},
          .products = {add_runs<Products<Format>>, add_rows<Products<Format>>},
          .affine = {map_runs<Affine<Format>>, map_rows<Affine<Format>>},
          .gradient = {map_runs<Gradient<Format>>, map_rows<Gradient<Format>>}};
}

inline Kernels kernels_for(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return kernels_in<Plain<double>>();
    case DType::kBF16:
      return kernels_in<BFloat16>();
    case DType::kF16:
      return kernels_in<Float16>();
    default:
      return kernels_in<Plain<float>>();
  }
}

}  // namespace
}  // namespace cohort::normalise

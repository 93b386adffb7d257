#pragma once

#include "base/check.h"
#include "base/exact_sum.h"
#include <cohort/numbers.h>

#include <cstddef>
#include <span>
#include <vector>

namespace cohort::solve {

// Arithmetic on the slice of vectors that a rank holds, f32 or f64. All vectors of a call have one length and
// one type. Every element is computed in f64 and rounded once, so it does not depend on how vectors are cut
// into slices. A sum over elements is one of blocks of 16, which are added in f64 and then exactly: it does
// not depend on the cut either, if slices begin at multiples of 16.

/// Elements between places where a vector may be cut.
inline constexpr std::size_t kBlock = 16;

/// Two vectors whose elements are multiplied.
struct Pair {
  ConstNumbers a{};
  ConstNumbers b{};
};
/// Adds the inner product of each pair to the sum of the same index.
///
/// Cost: reads each vector from memory once, however many pairs it is in.
void add_products(std::span<const Pair> pairs, std::span<ExactSum> sums);

/// A vector times a factor.
struct Term {
  double factor = 0;
  ConstNumbers vector{};
};
/// Sets `to` to the sum of the terms, of which `to` may be one.
void combine(std::span<const Term> terms, Numbers to);

void copy(ConstNumbers from, Numbers to);
/// Calls `body` with a float or a double, whichever the type is of.
template <class Body>
void with_type(DType dtype, const Body& body) {
  COHORT_CHECK(dtype == DType::kF32 || dtype == DType::kF64, "a vector of {}", name(dtype));
  if (dtype == DType::kF32) {
    body(float{});
  } else {
    body(double{});
  }
}
/// The rounding error of a loss, relative to it: losses of f32 are sums of numbers that were rounded to f32.
constexpr double rounding_of_losses(DType dtype) {
  return dtype == DType::kF32 ? 1e-6 : 1e-14;
}
/// The largest absolute value, NaN if there is one, 0 without elements.
double largest(ConstNumbers vector);

/// The memory of a vector, zero at first.
class Vector {
 public:
  Vector(std::size_t count, DType dtype)
      : bytes_(count * cohort::size_bytes(dtype)), count_(count), dtype_(dtype) {}

  operator Numbers() { return {bytes_.data(), count_, dtype_}; }             // NOLINT
  operator ConstNumbers() const { return {bytes_.data(), count_, dtype_}; }  // NOLINT
  std::size_t size_bytes() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
  std::size_t count_;
  DType dtype_;
};

}  // namespace cohort::solve

#include "solve/vectors.h"

#include "solve/ranks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace cohort::solve {
namespace {

// So many elements of all vectors of a call stay in the cache.
constexpr std::size_t kChunk = 1024;
static_assert(kChunk % kBlock == 0);

template <class T>
const T* at(const ConstNumbers& numbers, std::size_t first) {
  return reinterpret_cast<const T*>(numbers.data) + first;
}

template <class T>
double block_product(const T* a, const T* b) {
  std::array<double, kBlock> products;  // NOLINT: all are set
  for (std::size_t i = 0; i < kBlock; ++i) {
    products[i] = static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  for (std::size_t width = kBlock / 2; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) products[i] += products[i + width];
  }
  return products[0];
}

// The elements after the last block of 16 are added as if zeros followed: so has a slice, where padding does.
template <class T>
void add_product(const T* a, const T* b, std::size_t count, ExactSum& sum) {
  std::size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) sum.add(block_product(a + i, b + i));
  if (i == count) return;
  std::array<T, kBlock> last_a{}, last_b{};
  std::copy(a + i, a + count, last_a.begin());
  std::copy(b + i, b + count, last_b.begin());
  sum.add(block_product(last_a.data(), last_b.data()));
}

template <class T>
void combine_chunk(std::span<const Term> terms, std::size_t first, std::span<T> to) {
  std::array<double, kChunk> sums{};
  for (const Term& term : terms) {
    const T* const vector = at<T>(term.vector, first);
    for (std::size_t i = 0; i < to.size(); ++i) sums[i] += term.factor * static_cast<double>(vector[i]);
  }
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(sums[i]);
}

}  // namespace

void add_products(std::span<const Pair> pairs, std::span<ExactSum> sums) {
  COHORT_CHECK_EQ(pairs.size(), sums.size());
  if (pairs.empty()) return;
  const std::size_t count = pairs.front().a.count;
  with_type(pairs.front().a.dtype, [&](auto type) {
    using T = decltype(type);
    for (std::size_t first = 0; first < count; first += kChunk) {
      const std::size_t length = std::min(kChunk, count - first);
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        add_product(at<T>(pairs[p].a, first), at<T>(pairs[p].b, first), length, sums[p]);
      }
    }
  });
}

void combine(std::span<const Term> terms, Numbers to) {
  with_type(to.dtype, [&](auto type) {
    using T = decltype(type);
    for (std::size_t first = 0; first < to.count; first += kChunk) {
      const std::size_t length = std::min(kChunk, to.count - first);
      combine_chunk<T>(terms, first, {reinterpret_cast<T*>(to.data) + first, length});
    }
  });
}

void copy(ConstNumbers from, Numbers to) {
  COHORT_CHECK_EQ(from.size_bytes(), to.size_bytes());
  if (from.count > 0) std::memcpy(to.data, from.data, from.size_bytes());
}

double largest(ConstNumbers vector) {
  double most = 0;
  with_type(vector.dtype, [&](auto type) {
    const auto* const values = at<decltype(type)>(vector, 0);
    for (std::size_t i = 0; i < vector.count; ++i) {
      most = larger(most, std::abs(static_cast<double>(values[i])));
    }
  });
  return most;
}

}  // namespace cohort::solve

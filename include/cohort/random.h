#pragma once

#include <cohort/export.h>

#include <array>
#include <cstdint>

namespace cohort {

/// A counter-based random number generator (Philox): the i-th number of a stream is a pure function of (seed,
/// stream, i). Every rank, thread and machine gets the same bits for the same index, in any order.
///
///     const cohort::RandomStream noise(seed, /*stream=*/step);
///     const float x = noise.uniform(sample_index);
///
/// Threads: every method from any thread; there is no state.
/// Cost: ten Philox rounds per number; uniform() and normal() use one counter value each.
class COHORT_EXPORT RandomStream {
 public:
  constexpr RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  /// 128 random bits as four words: one block of Philox 4x32-10.
  std::array<std::uint32_t, 4> block(std::uint64_t index) const;
  /// 64 random bits.
  std::uint64_t bits(std::uint64_t index) const;
  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform(std::uint64_t index) const;
  /// Uniform among 0 … limit-1. `limit` must not be zero. The bias is at most limit / 2^64.
  std::uint64_t below(std::uint64_t limit, std::uint64_t index) const;
  /// Normal with mean 0 and variance 1. Only IEEE additions, products, quotients and square roots are used,
  /// so the bits do not depend on the machine's math library.
  double normal(std::uint64_t index) const;

  /// An independent stream derived from this one, for a component that needs several streams.
  RandomStream substream(std::uint64_t number) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

}  // namespace cohort

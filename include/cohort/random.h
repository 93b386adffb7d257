#pragma once

#include <cohort/export.h>

#include <array>
#include <cstdint>

namespace cohort {

/// Random numbers by position: the i-th number of a stream is a pure function of (seed, stream, i). Any rank,
/// thread or machine that asks for the same position gets the same bits, in any order, however often.
///
///     const cohort::RandomStream noise(seed, /*stream=*/step);
///     const float x = noise.uniform(sample_index);
///
/// Threads: no state, free of locks.
/// Cost: ten Philox rounds per number; uniform() and normal() use one counter value each.
class COHORT_EXPORT RandomStream {
 public:
  constexpr RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  /// 128 random bits as four words: one block of the generator.
  std::array<std::uint32_t, 4> block(std::uint64_t index) const;
  /// 64 random bits.
  std::uint64_t bits(std::uint64_t index) const;
  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform(std::uint64_t index) const;
  /// Uniform among 0 … limit-1. `limit` must not be zero. The bias is at most limit / 2^64.
  std::uint64_t below(std::uint64_t limit, std::uint64_t index) const;
  /// Normal with mean 0 and variance 1, computed with IEEE additions, products, quotients and roots alone, so
  /// that no mathematical library can change its bits.
  double normal(std::uint64_t index) const;

  /// An independent stream below this one, for a part that needs streams of its own.
  RandomStream substream(std::uint64_t number) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

}  // namespace cohort

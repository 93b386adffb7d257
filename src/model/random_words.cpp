// The rounds of RandomStream::block (src/base/random.cpp) for eight blocks at once. A 64-bit element of a
// vector holds one word of a block in its lower half; the upper half is ignored, since the multiplication
// reads only lower halves.

#include "model/random_words.h"

#include <cohort/random.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cohort::model {
namespace {

#if defined(__x86_64__)
#define COHORT_AVX2 __attribute__((target("avx2"), always_inline)) inline

constexpr std::size_t kLanes = 4;
constexpr std::size_t kBlocksAtOnce = 2 * kLanes;

// The words of four blocks.
struct Lanes {
  __m256i c0, c1, c2, c3;
};

COHORT_AVX2 Lanes counters(std::uint64_t stream, std::uint64_t first_block) {
  const __m256i index = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<long long>(first_block)),
                                         _mm256_set_epi64x(3, 2, 1, 0));
  const __m256i high = _mm256_set1_epi64x(static_cast<long long>(stream));
  return {index, _mm256_srli_epi64(index, 32), high, _mm256_srli_epi64(high, 32)};
}

COHORT_AVX2 void round_of(Lanes& x, __m256i k0, __m256i k1) {
  const __m256i p0 = _mm256_mul_epu32(x.c0, _mm256_set1_epi64x(0xD2511F53));
  const __m256i p1 = _mm256_mul_epu32(x.c2, _mm256_set1_epi64x(0xCD9E8D57));
  x.c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), x.c1), k0);
  x.c1 = p1;
  x.c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), x.c3), k1);
  x.c3 = p0;
}

// Stores the words, block after block.
COHORT_AVX2 void store(const Lanes& x, std::uint32_t* words) {
  const __m256i low = _mm256_blend_epi32(x.c0, _mm256_slli_epi64(x.c1, 32), 0xAA);
  const __m256i high = _mm256_blend_epi32(x.c2, _mm256_slli_epi64(x.c3, 32), 0xAA);
  const __m256i even = _mm256_unpacklo_epi64(low, high), odd = _mm256_unpackhi_epi64(low, high);
  auto* to = reinterpret_cast<__m256i*>(words);
  _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
  _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
}

/// Returns the number of blocks that were made: all but the last num_blocks % 8.
__attribute__((target("avx2"))) std::size_t make_by_avx2(const StreamName& name, std::uint64_t first_block,
                                                         std::uint32_t* words, std::size_t num_blocks) {
  std::size_t made = 0;
  for (; made + kBlocksAtOnce <= num_blocks; made += kBlocksAtOnce) {
    Lanes a = counters(name.stream, first_block + made);
    Lanes b = counters(name.stream, first_block + made + kLanes);
    __m256i k0 = _mm256_set1_epi64x(static_cast<long long>(name.seed));
    __m256i k1 = _mm256_srli_epi64(k0, 32);
    for (int round = 0; round < 10; ++round) {
      round_of(a, k0, k1);
      round_of(b, k0, k1);
      k0 = _mm256_add_epi32(k0, _mm256_set1_epi64x(0x9E3779B9));
      k1 = _mm256_add_epi32(k1, _mm256_set1_epi64x(0xBB67AE85));
    }
    store(a, words + 4 * made);
    store(b, words + 4 * (made + kLanes));
  }
  return made;
}
#endif

}  // namespace

void random_words_plain(const StreamName& name, std::uint64_t first_block, std::span<std::uint32_t> words) {
  const RandomStream stream(name.seed, name.stream);
  for (std::size_t i = 0; 4 * i < words.size(); ++i) {
    const auto block = stream.block(first_block + i);
    for (std::size_t j = 0; j < 4; ++j) words[4 * i + j] = block[j];
  }
}

void random_words(const StreamName& name, std::uint64_t first_block, std::span<std::uint32_t> words) {
  std::size_t made = 0;
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2) made = make_by_avx2(name, first_block, words.data(), words.size() / 4);
#endif
  random_words_plain(name, first_block + made, words.subspan(4 * made));
}

}  // namespace cohort::model

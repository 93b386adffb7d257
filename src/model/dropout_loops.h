#pragma once

#include "model/dropout_kernels.h"

// Elements are cut into chunks of 64, which take 16 consecutive blocks of RandomStream(key, sample): the i-th
// element of a chunk takes word i / 16 of block i % 16. So all 16 blocks are made side by side, and their
// words are used in the order in which they lie.
//
//     block      0   1   2  …  15
//     word 0     0   1   2  …  15     element of the chunk
//     word 1    16  17  18  …  31
//     word 2    32  33  34  …  47
//     word 3    48  49  50  …  63

namespace cohort::model {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kChunk = 4 * kLanes;

// The rounds of RandomStream::block (src/base/random.cpp), for 16 blocks at once.
inline void philox_rounds(std::uint32_t (&c0)[kLanes], std::uint32_t (&c1)[kLanes],
                          std::uint32_t (&c2)[kLanes], std::uint32_t (&c3)[kLanes], std::uint64_t key) {
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0[i];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2[i];
      c0[i] = static_cast<std::uint32_t>(p1 >> 32) ^ c1[i] ^ k0;
      c1[i] = static_cast<std::uint32_t>(p1);
      c2[i] = static_cast<std::uint32_t>(p0 >> 32) ^ c3[i] ^ k1;
      c3[i] = static_cast<std::uint32_t>(p0);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

inline void random_words(std::uint32_t (&words)[kChunk], const DropoutRow& row, std::uint64_t first_block) {
  std::uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) {
    c0[i] = static_cast<std::uint32_t>(first_block + i);
    c1[i] = static_cast<std::uint32_t>((first_block + i) >> 32);
    c2[i] = static_cast<std::uint32_t>(row.sample);
    c3[i] = static_cast<std::uint32_t>(row.sample >> 32);
  }
  philox_rounds(c0, c1, c2, c3, row.key);
  for (std::size_t i = 0; i < kLanes; ++i) {
    words[i] = c0[i];
    words[kLanes + i] = c1[i];
    words[2 * kLanes + i] = c2[i];
    words[3 * kLanes + i] = c3[i];
  }
}

template <class T>
inline T kept(std::uint32_t word, std::uint32_t threshold, T value, T scale) {
  return word >= threshold ? value * scale : T{0};
}

template <class T>
void drop(const DropoutRow& row, const T* from, T* to, std::size_t count) {
  const std::uint32_t threshold = row.threshold;
  const T scale = static_cast<T>(row.scale);
  std::uint32_t words[kChunk];
  std::size_t first = 0;
  std::uint64_t block = 0;
  for (; first + kChunk <= count; first += kChunk, block += kLanes) {
    random_words(words, row, block);
    for (std::size_t i = 0; i < kChunk; ++i) to[first + i] = kept(words[i], threshold, from[first + i], scale);
  }
  if (first == count) return;
  random_words(words, row, block);
  for (std::size_t i = 0; first + i < count; ++i)
    to[first + i] = kept(words[i], threshold, from[first + i], scale);
}

}  // namespace
}  // namespace cohort::model

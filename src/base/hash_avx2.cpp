#include "base/hash_kernel.h"

// This file is compiled for AVX2. xxhash.h takes its vectors from what the compiler may use.

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cohort {
namespace {

std::uint64_t hash_of(const void* bytes, std::size_t size_bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, size_bytes, seed);
}

void add_to_hash(void* state, const void* bytes, std::size_t size_bytes) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size_bytes);
}

}  // namespace

const HashKernel kAvx2Hash{"avx2", hash_of, add_to_hash};

}  // namespace cohort

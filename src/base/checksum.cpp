#include "base/checksum.h"

#include "base/hash_kernel.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cohort {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  static const CrcKernel fastest = crc_kernels().back();
  return ~fastest.add(bytes, ~before);
}

namespace {

std::uint64_t portable_hash_of(const void* bytes, std::size_t size_bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, size_bytes, seed);
}

void portable_add(void* state, const void* bytes, std::size_t size_bytes) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size_bytes);
}

}  // namespace

const HashKernel kPortableHash{"portable", portable_hash_of, portable_add};

const HashKernel& hash_kernel() {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return kAvx2Hash;
#endif
  return kPortableHash;
}

struct ContentHash::State {
  XXH3_state_t xxh;
};

ContentHash::ContentHash(std::uint64_t seed) : state_(std::make_unique<State>()) {
  XXH3_64bits_reset_withSeed(&state_->xxh, seed);
}
ContentHash::~ContentHash() = default;
ContentHash::ContentHash(ContentHash&&) noexcept = default;
ContentHash& ContentHash::operator=(ContentHash&&) noexcept = default;

void ContentHash::add(std::span<const std::byte> bytes) {
  hash_kernel().add(&state_->xxh, bytes.data(), bytes.size());
}

std::uint64_t ContentHash::value() const {
  return XXH3_64bits_digest(&state_->xxh);
}

std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t seed) {
  return hash_kernel().of(bytes.data(), bytes.size(), seed);
}

}  // namespace cohort

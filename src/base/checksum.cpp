#include "base/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cohort {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  static const CrcKernel fastest = crc_kernels().back();
  return ~fastest.add(bytes, ~before);
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
  XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::uint64_t ContentHash::value() const {
  return XXH3_64bits_digest(&state_->xxh);
}

std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace cohort

#include "comm/numbers/copy.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cohort::comm {
namespace {

constexpr std::size_t kSmall = 512;  // memcpy() is as fast for less

#if defined(__x86_64__)

constexpr std::size_t kVector = 32;
constexpr std::size_t kStep = 4 * kVector;
constexpr std::size_t kStreamed = std::size_t{4} << 20;

enum class Store { kCached, kStreaming };

template <Store kStore>
__attribute__((target("avx2"))) void copy_steps(std::byte* to, const std::byte* from, std::size_t num_steps) {
  for (std::size_t i = 0; i < num_steps; ++i, to += kStep, from += kStep) {
    for (std::size_t k = 0; k < kStep; k += kVector) {
      const __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + k));
      if constexpr (kStore == Store::kStreaming) {
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to + k), value);
      } else {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + k), value);
      }
    }
  }
  // Streamed bytes must be visible before a flag that is stored next.
  if constexpr (kStore == Store::kStreaming) _mm_sfence();
}

template <Store kStore>
__attribute__((target("avx2"))) void copy_avx2(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  if constexpr (kStore == Store::kStreaming) {
    // Streaming stores need aligned vectors: the bytes before the first boundary are copied first.
    const std::size_t ahead = (kVector - reinterpret_cast<std::uintptr_t>(to) % kVector) % kVector;
    std::memcpy(to, from, ahead);
    to += ahead;
    from += ahead;
    size_bytes -= ahead;
  }
  copy_steps<kStore>(to, from, size_bytes / kStep);
  const std::size_t done = size_bytes / kStep * kStep;
  std::memcpy(to + done, from + done, size_bytes - done);
}

bool has_vectors() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

#endif

}  // namespace

void copy_bytes(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  if (size_bytes == 0 || to == from) return;
#if defined(__x86_64__)
  if (has_vectors() && size_bytes >= kStreamed) return copy_avx2<Store::kStreaming>(to, from, size_bytes);
  if (has_vectors() && size_bytes >= kSmall) return copy_avx2<Store::kCached>(to, from, size_bytes);
#endif
  std::memcpy(to, from, size_bytes);
}

void stream_bytes(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  if (size_bytes == 0 || to == from) return;
#if defined(__x86_64__)
  if (has_vectors() && size_bytes >= kSmall) return copy_avx2<Store::kStreaming>(to, from, size_bytes);
#endif
  std::memcpy(to, from, size_bytes);
}

}  // namespace cohort::comm

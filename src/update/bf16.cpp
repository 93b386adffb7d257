#include "update/bf16.h"

#include <cstring>

namespace cohort::update {
namespace {

// Written without branches, so that compilers use vectors. The largest finite bits plus the rounding become
// those of infinity, as they should.
inline std::uint16_t narrowed(float number) {
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40;
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return static_cast<std::uint16_t>(is_nan ? quiet : rounded);
}

inline float widened(std::uint16_t number) {
  const std::uint32_t bits = static_cast<std::uint32_t>(number) << 16;
  float wide;
  std::memcpy(&wide, &bits, sizeof wide);
  return wide;
}

void round_generic(const float* __restrict from, std::uint16_t* __restrict to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = narrowed(from[i]);
}

void widen_generic(const std::uint16_t* __restrict from, float* __restrict to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = widened(from[i]);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void round_avx2(const float* __restrict from, std::uint16_t* __restrict to,
                                                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = narrowed(from[i]);
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

}  // namespace

void round_to_bf16(const float* from, std::uint16_t* to, std::size_t count) {
#if defined(__x86_64__)
  if (has_avx2()) return round_avx2(from, to, count);
#endif
  round_generic(from, to, count);
}

void widen_from_bf16(const std::uint16_t* from, float* to, std::size_t count) {
  widen_generic(from, to, count);
}

}  // namespace cohort::update

#pragma once

#include <bit>
#include <cstdint>

// Conversions of single numbers between f32 and the bit patterns of bf16 and IEEE f16: the plain reference
// for the vector loops of comm/numbers. They round to nearest, ties to even; a NaN becomes a quiet NaN; a
// number above the range becomes infinity.

namespace cohort {

// Shifts right and rounds to nearest, ties to even.
inline std::uint32_t shift_rounded(std::uint32_t value, int shift) {
  const std::uint32_t half = 1u << (shift - 1);
  const std::uint32_t odd = (value >> shift) & 1u;
  return (value + half - 1 + odd) >> shift;
}

inline float f32_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t bf16_from_f32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>(shift_rounded(bits, 16));
}

inline float f32_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1fu) {
    const std::uint32_t quiet = fraction != 0 ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | (fraction << 13));
  }
  if (exponent == 0) {  // zero or subnormal: fraction · 2^-24, exact in f32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

inline std::uint16_t f16_from_f32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const auto with_sign = [sign](std::uint32_t rest) { return static_cast<std::uint16_t>(sign | rest); };
  if (magnitude > 0x7f800000u) return with_sign(0x7e00u | ((magnitude >> 13) & 0x1ffu));
  if (magnitude >= 0x477ff000u) return with_sign(0x7c00u);  // 65520 and above round to infinity
  if (magnitude >= 0x38800000u) return with_sign(shift_rounded(magnitude - 0x38000000u, 13));
  if (magnitude <= 0x33000000u) return with_sign(0);          // 2^-25 and below round to zero
  const int shift = 126 - static_cast<int>(magnitude >> 23);  // subnormal: 14 … 24
  return with_sign(shift_rounded((magnitude & 0x7fffffu) | 0x800000u, shift));
}

}  // namespace cohort

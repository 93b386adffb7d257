#pragma once

#include <cstdint>

namespace cohort {

/// Conversions of single numbers between f32 and the bit patterns of bf16 and IEEE f16. They round to
/// nearest, ties to even; a NaN becomes a quiet NaN; a number above the range becomes infinity.
float f32_from_bf16(std::uint16_t bits);
std::uint16_t bf16_from_f32(float value);
float f32_from_f16(std::uint16_t bits);
std::uint16_t f16_from_f32(float value);

}  // namespace cohort

#pragma once

#include <cstdint>

namespace cohort {

/// Conversions of single numbers between f32 and the two 16-bit formats, as bit patterns. Rounding is to
/// nearest, ties to even; a NaN stays a (quiet) NaN; what is too large becomes infinite.
float f32_from_bf16(std::uint16_t bits);
std::uint16_t bf16_from_f32(float value);
float f32_from_f16(std::uint16_t bits);
std::uint16_t f16_from_f32(float value);

}  // namespace cohort

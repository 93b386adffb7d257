#pragma once

#include <cstddef>
#include <cstdint>

namespace cohort::update {

/// Rounds f32 numbers to bf16, to nearest, ties to even; a NaN stays one. All machines give the same bits.
void round_to_bf16(const float* from, std::uint16_t* to, std::size_t count);
/// The f32 numbers of the same values.
void widen_from_bf16(const std::uint16_t* from, float* to, std::size_t count);

}  // namespace cohort::update

#pragma once

#include "base/result.h"
#include <cohort/post_steps.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cohort::update {

/// Failure: kUsage; the message names `TrainerOptions::mask.sparsity`.
Status check_mask(const MaskOptions& options);

/// A mask with a 0 for the elements of the smallest magnitudes, and a 1 for the others. The number of zeros
/// is `sparsity` times the number of elements, rounded to the nearest, ties to even. Among elements of the
/// same magnitude the first ones get the zeros; a NaN counts as infinite.
std::vector<std::uint8_t> mask_of_largest(std::span<const float> values, double sparsity);

/// Sets the values whose mask is 0 to zero, whatever they are.
void hold_at_zero(const float* mask, float* values, std::size_t count);
/// The same for values of bf16.
void hold_at_zero(const float* mask, std::uint16_t* values, std::size_t count);

}  // namespace cohort::update

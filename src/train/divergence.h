#pragma once

#include "train/vote.h"

#include <cstdint>

namespace cohort::train {

/// Throws kDiverged for a loss that is not finite, with step and micro-batch. All ranks know of the loss by
/// the vote and throw the same error.
[[noreturn]] void refuse_loss(const BadLoss& bad, std::int64_t step);

/// Throws kDiverged for a norm of the gradient that is not finite.
[[noreturn]] void refuse_norm(double norm, std::int64_t step);

/// Throws kDiverged for a dynamic loss scale that would fall below the least one.
[[noreturn]] void refuse_scale(double scale, double least, std::int64_t step);

/// Throws kDiverged for values that are not finite though every stage computed in f32.
[[noreturn]] void refuse_overflow(const Verdict& verdict, std::int64_t step);

}  // namespace cohort::train

#pragma once

#include "train/vote.h"

#include <cstdint>

namespace cohort::train {

/// Throws kDiverged for a loss that is not finite, with step and micro-batch. All ranks know of the loss by
/// the vote and throw the same error.
[[noreturn]] void refuse_loss(const BadLoss& bad, std::int64_t step);

/// Throws kDiverged for a norm of the gradient that is not finite.
[[noreturn]] void refuse_norm(double norm, std::int64_t step);

}  // namespace cohort::train

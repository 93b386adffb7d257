#pragma once

#include <cohort/error.h>

namespace cohort {

/// The last code: decoders refuse a larger number.
inline constexpr ErrorCode kLastErrorCode = ErrorCode::kDiverged;

}  // namespace cohort

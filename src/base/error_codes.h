#pragma once

#include <cohort/error.h>

namespace cohort {

/// The last code: decoders refuse a larger number.
inline constexpr ErrorCode kLastErrorCode = ErrorCode::kDiverged;

// Exit codes of processes, see docs/reference/exit-codes.md.

/// The exit code of a process that ends with an error.
constexpr int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return 2;
    case ErrorCode::kDiverged:
      return 3;
    case ErrorCode::kBug:
      return 70;
    default:
      return 1;
  }
}

/// The exit code of a rank that ended because another rank failed, which reports the reason. A launcher
/// blames such a rank only if no rank ended with another failure.
inline constexpr int kFollowedExitCode = 75;

/// The exit code of a rank that stopped as it was told, after its state was saved: training can go on.
inline constexpr int kStoppedExitCode = 85;

}  // namespace cohort

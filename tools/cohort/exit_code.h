#pragma once

#include "base/error_codes.h"

#include <span>
#include <string_view>

namespace cohort::tool {

/// The exit codes of the tool itself. `cohort run` and `cohort train` also exit with the codes of their
/// ranks: any number.
enum class ExitCode {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kDiverged = 3,
  kBug = 70,
  kFollowed = kFollowedExitCode,
  kStopped = kStoppedExitCode,
};

struct ExitCodeRow {
  ExitCode code;
  std::string_view name;
  std::string_view meaning;
};

/// Every exit code with its meaning: the source of `cohort --help` and docs/reference/exit-codes.md.
std::span<const ExitCodeRow> exit_codes();

/// A sentence about the commands that exit with other codes as well.
std::string_view passed_on_exit_codes();

}  // namespace cohort::tool

#pragma once

#include <cohort/error.h>

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

/// The exit code of the tool for a failure.
ExitCode exit_code_of(const Error& error);

}  // namespace cohort::tool

#pragma once

#include <cohort/error.h>

#include <span>
#include <string_view>

namespace cohort::tool {

/// What the tool tells its caller when it ends. `cohort run` passes on what its ranks ended with: any number.
enum class ExitCode {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kBug = 70,
};

struct ExitCodeRow {
  ExitCode code;
  std::string_view name;
  std::string_view meaning;
};

/// Every exit code with its meaning: the source of `cohort --help` and docs/reference/exit-codes.md.
std::span<const ExitCodeRow> exit_codes();

/// The commands that exit with other codes too, in one sentence each.
std::string_view passed_on_exit_codes();

/// The exit code a failure ends the tool with.
ExitCode exit_code_of(const Error& error);

}  // namespace cohort::tool

#pragma once

#include "base/result.h"

#include <chrono>
#include <string>
#include <vector>

namespace cohort {

struct ProgramOutput {
  int exit_code = 0;
  std::string out{};
  std::string err{};
};

/// Runs a program to its end and returns all it wrote. Any exit code is a result; an error is a program that
/// could not be started, was killed by a signal, did not end within `limit` (it is killed then), or wrote
/// more than 16 MiB to a stream.
Result<ProgramOutput> run_program(std::vector<std::string> argv, std::chrono::nanoseconds limit);

}  // namespace cohort

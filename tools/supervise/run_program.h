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

/// Runs a program to its end and returns its output. Every exit code is a result.
/// Failure: the program could not be started, was killed by a signal, did not end within `limit` (it is
/// killed), or wrote more than 16 MiB to a stream.
Result<ProgramOutput> run_program(std::vector<std::string> argv, std::chrono::nanoseconds limit);

}  // namespace cohort

#pragma once

#include "base/result.h"
#include "launch/run_program.h"
#include "machine/space.h"

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cohort::machine {

/// The whole text of a file. Files of the kernel have no size beforehand: read until the end.
/// Failure: kNotFound if there is no such file; the message names the path.
using ReadText = std::function<Result<std::string>(const std::string& path)>;

/// Runs a program to its end; `argv[0]` without a slash is looked up on PATH.
/// Failure: kNotFound if there is no such program, kTimedOut if it was ended because of `limit`.
using RunProgram = std::function<Result<ProgramOutput>(const std::vector<std::string>& argv,
                                                       std::chrono::nanoseconds limit)>;

/// Size and free space of the file system that holds a path.
using MeasureSpace = std::function<Result<Space>(const std::string& path)>;

using Environment = std::map<std::string, std::string>;

/// Everything a survey looks at beyond plain system calls.
struct Sources {
  ReadText read_text;
  RunProgram run_program;
  MeasureSpace measure_space = space_of;
  Environment environment;
};

}  // namespace cohort::machine

#pragma once

#include "base/result.h"
#include "supervise/run_program.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cohort::machine {

/// A fact about this machine, or the reason why it could not be read. A survey continues after a failed
/// reading.
template <class T>
class Fact : public Result<T> {
 public:
  Fact() : Result<T>(Error(ErrorCode::kNotFound, "not read")) {}
  Fact(T value) : Result<T>(std::move(value)) {}            // NOLINT: implicit by design
  Fact(Error reason) : Result<T>(std::move(reason)) {}      // NOLINT: implicit by design
  Fact(Result<T> result) : Result<T>(std::move(result)) {}  // NOLINT: implicit by design
};

/// The value of a fact that only states that something works.
struct Works {};

/// The size of a file system, and the space that an ordinary user can still fill.
struct Space {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
};

/// The space of the file system that contains `path`.
Result<Space> space_of(const std::string& path);

/// Reads the whole text of a file, until its end: files of the kernel have no size.
/// Failure: kNotFound if the file does not exist; the message names the path.
using ReadText = std::function<Result<std::string>(const std::string& path)>;

/// Runs a program to its end; `argv[0]` without a slash is looked up in PATH.
/// Failure: kNotFound if the program does not exist, kTimedOut if the program was killed after `limit`.
using RunProgram = std::function<Result<ProgramOutput>(const std::vector<std::string>& argv,
                                                       std::chrono::nanoseconds limit)>;

/// Size and free space of the file system that contains a path.
using MeasureSpace = std::function<Result<Space>(const std::string& path)>;

using Environment = std::map<std::string, std::string>;

/// Everything that a survey reads, other than by plain system calls. Tests pass their own functions.
struct Sources {
  ReadText read_text;
  RunProgram run_program;
  MeasureSpace measure_space = space_of;
  Environment environment;
};

}  // namespace cohort::machine

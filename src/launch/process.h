#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "launch/captured_output.h"
#include "launch/exit_status.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <variant>
#include <vector>

namespace cohort {

namespace launch {
class Keeper;
}

/// Keep a stream of the program in memory: its head, up to the cap.
struct CaptureOutput {
  std::size_t cap_bytes = std::size_t{16} << 20;
};
/// Let a stream of the program go where ours goes.
struct InheritOutput {};
/// Send a stream of the program to an open descriptor, which stays the caller's.
struct OutputToDescriptor {
  int descriptor = 2;
};
using OutputChoice = std::variant<CaptureOutput, InheritOutput, OutputToDescriptor>;

/// What to start, and how.
struct ProcessOptions {
  /// The program and its arguments. A name without '/' is looked up in the PATH of the program's environment;
  /// a relative path is seen from the working directory.
  std::vector<std::string> argv{};
  /// All of its environment; if absent, a copy of ours.
  std::optional<std::map<std::string, std::string>> environment{};
  /// Added to that, replacing what has the same name.
  std::map<std::string, std::string> extra_environment{};
  /// If absent, ours.
  std::optional<std::string> working_directory{};
  OutputChoice output{};
  OutputChoice error_output{};
  /// It is killed when this process ends, however that happens.
  bool die_with_parent = true;
  bool core_dumps = true;
};

/// A program that was started and belongs to us. It reads an empty standard input and gets no descriptor of
/// ours but its output streams.
///
///     COHORT_ASSIGN_OR_RETURN(Process rank, Process::start({.argv = {"./train", "--rank=3"}}));
///     COHORT_ASSIGN_OR_RETURN(const ExitStatus status, rank.wait(clock.now() + 30s));
///
/// Threads: every method from any thread, except moving and destroying. One thread per process reads its
/// output all the time, so it never blocks on a full pipe, and waits on a pidfd, so a deadline is exact.
/// Lifetime: the destructor kills the program with SIGKILL, reaps it and closes every descriptor.
/// Failure: start() reports a program that cannot be executed; afterwards only the program itself can fail.
/// What its own children write after it ended is lost.
/// Cost: one fork, one thread, up to three descriptors while it runs.
class Process {
 public:
  static Result<Process> start(ProcessOptions options);
  ~Process();
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;

  pid_t pid() const;
  /// How it ended. kTimedOut if it still runs at `deadline`, on the machine's own clock; kAborted if `stop`
  /// was requested first. In both cases it goes on running.
  Result<ExitStatus> wait(TimePoint deadline, const std::stop_token& stop = {});
  /// How it ended, or nothing while it runs.
  Result<std::optional<ExitStatus>> poll();
  /// Sends a signal; kNotFound if it has ended.
  Status signal(int number);
  /// Asks it to end with SIGTERM (and wakes it if it is stopped), and kills it if it still runs after
  /// `grace`.
  Result<ExitStatus> terminate(std::chrono::nanoseconds grace);

  /// What it wrote so far; all of it once it has ended. Empty if the stream is not captured.
  CapturedOutput output() const;
  CapturedOutput error_output() const;

 private:
  Process(std::string program, std::unique_ptr<launch::Keeper> keeper);
  std::string described() const;

  std::string program_;
  std::unique_ptr<launch::Keeper> keeper_;
};

}  // namespace cohort

#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "launch/captured_output.h"
#include "launch/exit_status.h"
#include "launch/process_group.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
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
/// Hand a stream of the program over while it is written, piece by piece as it comes, on the one thread that
/// stays with the program. While `take` blocks, so does the program once its pipe is full.
struct OutputToFunction {
  std::function<void(std::string_view piece)> take{};
};
using OutputChoice = std::variant<CaptureOutput, InheritOutput, OutputToDescriptor, OutputToFunction>;

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
  /// A descriptor that it reads as its standard input; if absent, an empty one. It stays the caller's.
  std::optional<int> input{};
  OutputChoice output{};
  OutputChoice error_output{};
  /// A descriptor that it gets as number 3. It stays the caller's.
  std::optional<int> passed_on{};
  /// It is killed when this process ends, however that happens.
  bool die_with_parent = true;
  bool core_dumps = true;
  /// With a group of its own, its children are signalled and ended with it, and what they write is read until
  /// this Process is destroyed.
  ProcessGroup group = ProcessGroup::kOurs;
  /// The cores it may run on; empty: those of this process.
  std::vector<int> cores{};
  /// Called once when it has ended, on the thread that stays with it; must not destroy the Process.
  std::function<void()> on_end{};
};

/// A program that was started and belongs to us. It gets no descriptor of ours but those of its options.
///
///     COHORT_ASSIGN_OR_RETURN(Process rank, Process::start({.argv = {"./train", "--rank=3"}}));
///     COHORT_ASSIGN_OR_RETURN(const ExitStatus status, rank.wait(clock.now() + 30s));
///
/// Threads: every method from any thread, except moving and destroying. One thread per process reads its
/// output all the time, so it never blocks on a full pipe, and waits on a pidfd, so a deadline is exact.
/// Lifetime: the destructor kills the program with SIGKILL, its whole group if that is its own, reaps it and
/// closes every descriptor.
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
  /// When its end was noticed, before its last output was read.
  std::optional<TimePoint> ended_at() const;
  /// Sends a signal; kNotFound if it has ended.
  Status signal(int number);
  /// Sends a signal to the program and all its descendants in its own group, also after it has ended itself.
  /// Does nothing where nobody is left. Only for a program with a group of its own.
  Status signal_group(int number);
  /// Asks it to end with SIGTERM (and wakes it if it is stopped), and kills it if it still runs after
  /// `grace`. kTimedOut if even that does not end it within ten seconds: it hangs in the operating system.
  Result<ExitStatus> terminate(std::chrono::nanoseconds grace);

  /// What it wrote so far; all of it once it has ended. Empty if the stream is not captured.
  CapturedOutput output() const;
  CapturedOutput error_output() const;

 private:
  Process(std::string program, ProcessGroup group, std::unique_ptr<launch::Keeper> keeper);
  std::string described() const;

  std::string program_;
  ProcessGroup group_;
  std::unique_ptr<launch::Keeper> keeper_;
};

}  // namespace cohort

#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "supervise/process_group.h"
#include "supervise/process_result.h"

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

namespace supervise {
class Keeper;
}

/// Keeps the beginning of a stream of the program in memory, up to the cap.
struct CaptureOutput {
  std::size_t cap_bytes = std::size_t{16} << 20;
};
/// Connects a stream of the program to the same stream of this process.
struct InheritOutput {};
/// Connects a stream of the program to an open descriptor. The caller keeps the descriptor.
struct OutputToDescriptor {
  int descriptor = 2;
};
/// Passes the bytes of a stream to a function as they arrive, on the thread that accompanies the program.
/// While `take` blocks, the program blocks too once its pipe is full.
struct OutputToFunction {
  std::function<void(std::string_view piece)> take{};
};
using OutputChoice = std::variant<CaptureOutput, InheritOutput, OutputToDescriptor, OutputToFunction>;

/// The program to start, and its surroundings.
struct ProcessOptions {
  /// The program and its arguments. A name without '/' is looked up in the PATH of the program's environment;
  /// a relative path starts at the working directory.
  std::vector<std::string> argv{};
  /// The whole environment of the program; if absent, a copy of ours.
  std::optional<std::map<std::string, std::string>> environment{};
  /// Added to the environment; replaces variables of the same name.
  std::map<std::string, std::string> extra_environment{};
  /// If absent, the working directory of this process.
  std::optional<std::string> working_directory{};
  /// A descriptor for the program's standard input; if absent, /dev/null. The caller keeps the descriptor.
  std::optional<int> input{};
  OutputChoice output{};
  OutputChoice error_output{};
  /// A descriptor that the program gets as number 3. The caller keeps the descriptor.
  std::optional<int> passed_on{};
  /// The program is killed when this process ends, even by SIGKILL.
  bool die_with_parent = true;
  bool core_dumps = true;
  /// With ProcessGroup::kOwn, signals to the program reach its children as well, and their output is read
  /// until the Process is destroyed.
  ProcessGroup group = ProcessGroup::kOurs;
  /// The cores that the program may run on; empty: the cores of this process.
  std::vector<int> cores{};
  /// Called once when the program has ended, on the thread that accompanies it; must not destroy the Process.
  std::function<void()> on_end{};
};

/// A child process. It inherits no descriptor except those named in its options.
///
///     COHORT_ASSIGN_OR_RETURN(Process rank, Process::start({.argv = {"./train", "--rank=3"}}));
///     COHORT_ASSIGN_OR_RETURN(const ExitStatus status, rank.wait(clock.now() + 30s));
///
/// Threads: every method from any thread, except moving and destroying. One thread per process reads its
/// output all the time, so the process never blocks on a full pipe, and waits on a pidfd, so a deadline is
/// exact.
/// Lifetime: the destructor kills the process with SIGKILL (with its own group, if it has one), reaps it and
/// closes every descriptor.
/// Failure: start() reports a program that cannot be executed. Output that the children of the program write
/// after its end is lost, unless the program has its own group.
/// Cost: one fork, one thread, up to three descriptors while the process runs.
class Process {
 public:
  static Result<Process> start(ProcessOptions options);
  ~Process();
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;

  pid_t pid() const;
  /// How the process ended. kTimedOut if the process still runs at `deadline`; kAborted if `stop` was
  /// requested first. The process keeps running in both cases.
  Result<ExitStatus> wait(TimePoint deadline, const std::stop_token& stop = {});
  /// How the process ended; empty while it runs.
  Result<std::optional<ExitStatus>> poll();
  /// The time at which the end was noticed, before the last output was read.
  std::optional<TimePoint> ended_at() const;
  /// Sends a signal; kNotFound if the process has ended.
  Status signal(int number);
  /// Sends a signal to every process of the group, also after the leader has ended. A group without a process
  /// left is no failure. Only for ProcessGroup::kOwn.
  Status signal_group(int number);
  /// Sends SIGTERM (and SIGCONT, for a stopped process), waits for `grace`, then sends SIGKILL. kTimedOut if
  /// the process still exists ten seconds after SIGKILL: it hangs in a system call.
  Result<ExitStatus> terminate(std::chrono::nanoseconds grace);

  /// The output so far; complete once the process has ended. Empty if the stream is not captured.
  CapturedOutput output() const;
  CapturedOutput error_output() const;

 private:
  Process(std::string program, ProcessGroup group, std::unique_ptr<supervise::Keeper> keeper);
  std::string described() const;

  std::string program_;
  ProcessGroup group_;
  std::unique_ptr<supervise::Keeper> keeper_;
};

}  // namespace cohort

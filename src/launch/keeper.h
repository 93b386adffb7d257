#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"
#include "launch/captured_output.h"
#include "launch/exit_status.h"
#include "launch/spawn.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace cohort::launch {

/// Our end of a stream that is captured; closed if it is not.
struct StreamSource {
  Descriptor reading{};
  std::size_t cap_bytes = 0;
};

/// The thread that stays with a child for as long as it lives: starts it, reads what it writes, reaps it.
///
/// The thread also forks, because a child told to die with its parent dies with the thread that forked it.
///
/// Threads: every method from any thread; one mutex guards what the thread publishes.
/// Lifetime: the destructor kills the child, reaps it and joins the thread.
class Keeper {
 public:
  static Result<std::unique_ptr<Keeper>> start(SpawnPlan plan, StreamSource output,
                                               StreamSource error_output);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  pid_t pid() const { return pid_; }
  /// How it ended; nothing if `deadline` or `stop` came first.
  std::optional<Result<ExitStatus>> wait(TimePoint deadline, std::stop_token stop);
  /// Returns false if the child has ended.
  Result<bool> signal(int number);
  CapturedOutput output() const;
  CapturedOutput error_output() const;

 private:
  struct Stream {
    StreamSource source;
    CapturedOutput captured;
  };

  Keeper(StreamSource output, StreamSource error_output);
  void run(SpawnPlan plan) noexcept;
  Status begin(const SpawnPlan& plan);
  void read_until_exit() noexcept;
  void drain(Stream& stream) noexcept;
  /// Returns how many bytes came; closes the stream at its end.
  std::size_t read_once(Stream& stream, std::size_t limit_bytes) noexcept;
  Result<ExitStatus> reap();

  // Written by the thread before it announces the start, constant afterwards.
  pid_t pid_ = 0;
  Descriptor pidfd_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Status> started_;
  std::optional<Result<ExitStatus>> ended_;
  Stream output_;  // the source belongs to the thread, the captured text to the mutex
  Stream error_output_;

  std::thread thread_;
};

}  // namespace cohort::launch

#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"
#include "launch/captured_output.h"
#include "launch/exit_status.h"
#include "launch/spawn.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>

namespace cohort::launch {

/// Our end of a stream that is captured or handed over; closed if it is neither.
struct StreamSource {
  Descriptor reading{};
  std::size_t cap_bytes = 0;
  std::function<void(std::string_view piece)> take{};  ///< if there, gets what is read; nothing is captured
};

/// What the thread does with what happens to the child.
struct KeeperTasks {
  StreamSource output{};
  StreamSource error_output{};
  std::function<void()> on_end{};  ///< called after the end was published
};

/// The thread that stays with a child for as long as it lives: starts it, reads what it writes, reaps it.
///
/// The thread also forks, because a child told to die with its parent dies with the thread that forked it.
///
/// A child that leads a group of its own stays unreaped until the destructor, so that the number of the group
/// cannot become somebody else's, and what its descendants write is read until then.
///
/// Threads: every method from any thread; one mutex guards what the thread publishes.
/// Lifetime: the destructor kills the child or its own group, reaps it and joins the thread.
class Keeper {
 public:
  static Result<std::unique_ptr<Keeper>> start(SpawnPlan plan, KeeperTasks tasks);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  pid_t pid() const { return pid_; }
  /// How it ended; nothing if `deadline` or `stop` came first.
  std::optional<Result<ExitStatus>> wait(TimePoint deadline, std::stop_token stop);
  std::optional<TimePoint> ended_at() const;
  /// Returns false if the child has ended.
  Result<bool> signal(int number);
  CapturedOutput output() const;
  CapturedOutput error_output() const;

 private:
  struct Stream {
    StreamSource source;
    CapturedOutput captured;
  };

  explicit Keeper(KeeperTasks tasks);
  void run(SpawnPlan plan) noexcept;
  Status begin(const SpawnPlan& plan);
  /// Reads both streams until `event` is ready.
  void read_until(const Descriptor& event) noexcept;
  void end_group() noexcept;
  void drain(Stream& stream) noexcept;
  /// Returns how many bytes came; closes the stream at its end.
  std::size_t read_once(Stream& stream, std::size_t limit_bytes) noexcept;
  enum class Reap { kNow, kLater };
  Result<ExitStatus> learn_end(Reap reap);

  // Written by the thread before it announces the start, constant afterwards.
  pid_t pid_ = 0;
  Descriptor pidfd_;
  Descriptor release_;  // becomes readable when the destructor wants a group to go
  ProcessGroup group_ = ProcessGroup::kOurs;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Status> started_;
  std::optional<Result<ExitStatus>> ended_;
  std::optional<TimePoint> ended_at_;
  Stream output_;  // the source belongs to the thread, the captured text to the mutex
  Stream error_output_;
  std::function<void()> on_end_;

  std::thread thread_;
};

}  // namespace cohort::launch

#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"
#include "supervise/process_result.h"
#include "supervise/spawn.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>

namespace cohort::supervise {

/// The reading end of a stream that is captured or handed to a function; closed for a stream that is neither.
struct StreamSource {
  Descriptor reading{};
  std::size_t cap_bytes = 0;
  std::function<void(std::string_view piece)> take{};  ///< if set, gets the bytes, and nothing is captured
};

/// The streams to read and the function to call at the end of the child.
struct KeeperTasks {
  StreamSource output{};
  StreamSource error_output{};
  std::function<void()> on_end{};  ///< called after wait() can see the end
};

/// A thread that accompanies one child: starts it, reads its output, reaps it.
///
/// The same thread calls fork(), because PR_SET_PDEATHSIG kills a child when the *thread* that forked it
/// ends.
///
/// A child that leads its own process group stays a zombie until the destructor, so that the kernel cannot
/// reuse the number of the group. The output of its descendants is read until then.
///
/// Threads: every method from any thread; one mutex guards the results of the thread.
/// Lifetime: the destructor kills the child (with its own group, if it has one), reaps it and joins the
/// thread.
class Keeper {
 public:
  static Result<std::unique_ptr<Keeper>> start(SpawnPlan plan, KeeperTasks tasks);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  pid_t pid() const { return pid_; }
  /// How the child ended; empty if `deadline` or `stop` came first.
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
  /// Returns the number of bytes read; closes the stream at its end.
  std::size_t read_once(Stream& stream, std::size_t limit_bytes) noexcept;
  enum class Reap { kNow, kLater };
  Result<ExitStatus> learn_end(Reap reap);

  // Written by the thread before the start is reported, constant afterwards.
  pid_t pid_ = 0;
  Descriptor pidfd_;
  Descriptor release_;  // becomes readable when the destructor wants the group killed
  ProcessGroup group_ = ProcessGroup::kOurs;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Status> started_;
  std::optional<Result<ExitStatus>> ended_;
  std::optional<TimePoint> ended_at_;
  Stream output_;  // the thread alone uses the source; the mutex guards the captured text
  Stream error_output_;
  std::function<void()> on_end_;

  std::thread thread_;
};

}  // namespace cohort::supervise

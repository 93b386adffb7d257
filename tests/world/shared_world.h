#pragma once

#include "base/clock.h"
#include "base/memory_sink.h"
#include "base/result.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace cohort::test {

/// `rank 1`, `ranks 1 and 3`, `ranks 0, 2 and 3`.
std::string ranks_text(std::span<const int> ranks);

/// The first failure of a world.
struct WorldFailure {
  Error error;
  std::vector<int> ranks;  ///< the rank that failed, or all ranks that ran at the deadline
  bool hung = false;

  /// The error for the other ranks: kAborted, `rank 2 failed: ` and the text of the error.
  Error as_abort() const;
};

/// The shared state of the ranks of one world: results, the first failure, and a monitor to wait on.
///
/// Threads: every method from any thread; one mutex, which is free while a stop is requested.
class SharedWorld {
 public:
  SharedWorld(int size, std::chrono::nanoseconds limit);

  int size() const { return size_; }
  TimePoint deadline() const { return deadline_; }
  std::stop_token stop_token() const { return stop_.get_token(); }
  RealClock& clock() { return clock_; }
  MemorySink& sink() { return sink_; }

  Status barrier();
  Status wait_for(const std::function<bool()>& predicate);
  void change(const std::function<void()>& update);

  /// Records the result of a rank. The first error becomes the failure of the world.
  void has_returned(int rank, Status own);
  /// Waits until all ranks have returned or one has failed. At the deadline the ranks that still run have
  /// failed. After a failure it requests the stop.
  void run_to_the_end();
  /// Waits for all ranks; false if a rank still runs at `deadline`.
  bool all_return_by(TimePoint deadline);

  std::optional<WorldFailure> failure() const;
  std::vector<std::optional<Status>> own() const;
  /// The ranks that still run.
  std::vector<int> running() const;

 private:
  std::vector<int> running_locked() const;
  std::vector<int> returned_locked() const;
  std::vector<int> ranks_where(bool (*wanted)(const std::optional<Status>&)) const;

  const int size_;
  const std::chrono::nanoseconds limit_;
  RealClock clock_;
  const TimePoint deadline_;
  MemorySink sink_;
  std::stop_source stop_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<Status>> own_;
  std::optional<WorldFailure> failure_;
  int num_waiting_ = 0;           // in the barrier
  std::uint64_t num_passed_ = 0;  // barriers completed
};

}  // namespace cohort::test

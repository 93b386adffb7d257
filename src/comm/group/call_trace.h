#pragma once

#include "base/ring_log.h"
#include "comm/group/call.h"

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

namespace cohort::comm {

/// One call of a communicator, and when it ran.
struct TracedCall {
  std::string group{};
  Operation operation = Operation::kBarrier;
  std::size_t bytes = 0;  ///< of the input, or of the output of a call without one
  std::chrono::steady_clock::time_point begin{};
  std::chrono::steady_clock::time_point end{};
};

/// The times of the newest calls of communicators, in a ring buffer.
///
/// Threads: every method from any thread.
/// Cost: two readings of the clock, a lock and one assignment per call.
class CallTrace {
 public:
  explicit CallTrace(std::size_t capacity) : log_(capacity) {}

  void add(TracedCall call) {
    const std::lock_guard lock(mutex_);
    log_.add(std::move(call));
  }
  /// From the oldest to the newest.
  std::vector<TracedCall> calls() const {
    const std::lock_guard lock(mutex_);
    return log_.entries();
  }

 private:
  mutable std::mutex mutex_;
  RingLog<TracedCall> log_;
};

}  // namespace cohort::comm

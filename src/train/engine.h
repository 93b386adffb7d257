#pragma once

#include "layout/program.h"
#include "train/work_thread.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace cohort::train {

/// Runs programs: the lane of slots on the caller's thread, the lane of buckets on a thread of its own, so
/// that gradients are reduced while others are still computed.
///
/// Threads: run() from one thread; filled() from any, while run() is going on.
/// Failure: what an action throws ends both lanes after the actions they are at, and run() throws it. The
/// engine cannot be used again then.
class Engine {
 public:
  using Perform = std::function<void(const Action&)>;

  /// `perform` is called with the actions of slots and the vote on the thread of run(), with those of buckets
  /// on the other.
  explicit Engine(Perform perform);

  /// Everything in the program was done when it returns.
  void run(const Program& program);
  /// The gradients of this bucket are complete.
  void filled(int bucket);
  /// How long run() waited for the other lane, in all: communication that nothing hid.
  std::chrono::nanoseconds waited() const { return waited_; }

 private:
  void run_lane(const Program& program, Lane lane);
  void mark(std::size_t index);
  /// False if the program failed.
  bool wait_for(const Action& action);
  void fail();

  const Perform perform_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const Program* program_ = nullptr;
  std::vector<bool> done_;
  bool failed_ = false;
  std::chrono::nanoseconds waited_{0};
  WorkThread buckets_;
};

}  // namespace cohort::train

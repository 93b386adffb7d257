#pragma once

#include "layout/program.h"
#include "train/work_thread.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace cohort::train {

/// Runs programs: the lane of slots on the caller's thread, the lane of buckets on another thread, so that
/// gradients are reduced while others are still computed.
///
/// Threads: run() from one thread; filled() from any, while run() is going on.
/// Failure: an exception of an action ends both lanes after their current actions, and run() throws it.
/// Afterwards the engine cannot be used.
class Engine {
 public:
  using Perform = std::function<void(const Action&)>;

  /// `perform` gets the actions of slots and the vote on the thread of run(), the actions of buckets on the
  /// other thread.
  explicit Engine(Perform perform);

  /// Returns when all actions of the program are done.
  void run(const Program& program);
  /// The gradients of this bucket are complete.
  void filled(int bucket);
  /// The total time that run() waited for the lane of buckets: communication that no computation hid.
  std::chrono::nanoseconds waited() const { return waited_; }

 private:
  void run_lane(const Program& program, Lane lane);
  void mark(std::size_t index);
  /// Waits until the action may begin. False if the program failed.
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

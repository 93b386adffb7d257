#pragma once

#include "layout/program.h"
#include "train/work_thread.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cohort::train {

class ActionTrace;

/// Runs programs: lane 0 on the caller's thread, every other lane on a thread of its own, so that gradients
/// are reduced while others are still computed.
///
/// Threads: run() from one thread; filled() from any, while run() is going on.
/// Lifetime: the trace must outlive it.
/// Failure: an exception of an action ends all lanes after their current actions, and run() throws it; of several, the
/// cause, not the consequences in other lanes.
/// Afterwards the engine cannot be used.
class Engine {
 public:
  using Perform = std::function<void(const Action&)>;

  /// `perform` gets the actions of a lane on the thread of that lane.
  Engine(int num_lanes, Perform perform);

  /// From the next run() on, the times of all actions are recorded there; null: nowhere.
  void set_trace(ActionTrace* trace) { trace_ = trace; }
  /// Returns when all actions of the program are done.
  void run(const Program& program);
  /// The gradients of this bucket are complete.
  void filled(int bucket);
  /// The total time that lane 0 waited for the other lanes: communication that no computation hid.
  std::chrono::nanoseconds waited() const { return waited_; }

 private:
  void begin(const Program& program);
  void run_lane(const Program& program, int lane);
  void perform(const Action& action, std::size_t index);
  void mark(std::size_t index);
  /// Waits until the action may begin. False if the program failed.
  bool wait_for(const Action& action);
  void fail();

  const Perform perform_;
  ActionTrace* trace_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  const Program* program_ = nullptr;
  std::vector<bool> done_;
  std::vector<std::size_t> fills_;  // per bucket: the index of the action that marks it complete
  bool failed_ = false;
  std::chrono::nanoseconds waited_{0};
  std::vector<std::unique_ptr<WorkThread>> lanes_;  // without lane 0
};

}  // namespace cohort::train

#pragma once

#include "comm/handler_pool.h"
#include "open_count.h"

#include <atomic>
#include <functional>

namespace cohort::c10d_plugin {

/// Threads for what may need Python's lock, or may wait: callbacks of futures, and tensors that are let go.
/// One for all groups of the process.
///
/// Threads: every method from any thread.
/// Lifetime: until the process ends. Before Python ends, drain() must have been called: a thread that asks
/// for Python's lock afterwards is ended by it in the middle of whatever it does.
class Callbacks {
 public:
  static Callbacks& of_process();

  /// Runs it on a thread of its own, and lets go of it there; after drain() neither.
  void add(std::function<void()> job);
  /// Waits for those that run, for a while at most.
  void drain();
  comm::HandlerPool& pool() { return pool_; }

 private:
  Callbacks();

  comm::HandlerPool pool_;
  OpenCount open_;
  std::atomic<bool> is_drained_ = false;
};

}  // namespace cohort::c10d_plugin

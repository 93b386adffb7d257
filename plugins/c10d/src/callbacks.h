#pragma once

#include "base/home_process.h"
#include "comm/progress/handler_pool.h"
#include "open_count.h"

#include <atomic>
#include <functional>

namespace cohort::c10d_plugin {

/// Threads for work that may need Python's GIL or may block: callbacks of futures, and the release of
/// tensors. Shared by all groups of the process.
///
/// Threads: every method from any thread.
/// Lifetime: until the process ends. drain() must be called before Python ends: after that, Python terminates
/// any thread that asks for the GIL.
class Callbacks {
 public:
  static Callbacks& of_process();

  /// Runs and destroys the job on a thread of its own. After drain() the job is neither run nor destroyed.
  void add(std::function<void()> job);
  /// Waits up to five seconds for the jobs that run. A forked child has none of them and does not wait.
  void drain();
  comm::HandlerPool& pool() { return pool_; }

 private:
  Callbacks();

  const HomeProcess home_;
  comm::HandlerPool pool_;
  OpenCount open_;
  std::atomic<bool> is_drained_ = false;
};

}  // namespace cohort::c10d_plugin

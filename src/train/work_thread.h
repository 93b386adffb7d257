#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace cohort::train {

/// A thread that does jobs in the order in which they are given.
///
/// Threads: every method from any thread.
/// Lifetime: the destructor waits for the job that is going on and forgets the others.
/// Failure: what a job throws sticks: later jobs are not begun, and drain() throws it.
class WorkThread {
 public:
  WorkThread();
  ~WorkThread();
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  void give(std::function<void()> job);
  /// Waits for everything that was given. There is no deadline of its own: the jobs have theirs.
  void drain();

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::exception_ptr failure_;
  bool busy_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace cohort::train

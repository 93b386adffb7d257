#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace cohort::train {

/// A thread that runs jobs in the order in which they are given.
///
/// Threads: every method from any thread.
/// Lifetime: the destructor waits for the current job and drops the others.
/// Failure: after an exception of a job no later job begins, and drain() throws that exception.
class WorkThread {
 public:
  WorkThread();
  ~WorkThread();
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  void give(std::function<void()> job);
  /// Waits for all jobs. Has no deadline: the calls that jobs make have one.
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

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace cohort::comm {

/// Threads for jobs that may block and may wait for each other.
///
/// A thread is added when there is a job, no thread is idle, and fewer than `running_cap` jobs run. Jobs that
/// wait (Pause) are not counted as running, so a job that another one waits for always finds a thread, until
/// there are `thread_cap` threads. When all of those wait, jobs that can be refused are refused: a job must
/// not wait for one that cannot start. Threads stay until the pool is closed.
///
/// Threads: every method from any thread; close() not from a job.
class HandlerPool {
 public:
  struct Options {
    int running_cap = 4;
    int thread_cap = 256;
  };
  struct Job {
    std::function<void()> run{};
    std::function<void()> refuse{};  ///< instead of run; a job without one is never refused
  };

  explicit HandlerPool(Options options) : options_(options) {}
  ~HandlerPool() { close(); }
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  /// Runs the job on a thread of the pool, or refuses it on such a thread or on this one.
  void add(Job job);
  /// Drops the jobs that have not begun and can be refused, runs the others, and waits for all. A job that is
  /// added later is dropped, or run on the calling thread if it cannot be refused.
  void close();

  /// Marks the job of this thread as waiting while the Pause lives. Has no effect on threads outside the
  /// pool.
  class Pause {
   public:
    explicit Pause(HandlerPool& pool);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    HandlerPool& pool_;
    const bool counts_;
  };

  int num_threads() const;

 private:
  void run();
  void grow();                            // with the lock held
  std::vector<Job> take_what_is_stuck();  // with the lock held

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  int num_idle_ = 0;
  int num_running_ = 0;
  int num_paused_ = 0;
  std::deque<Job> jobs_;
  std::set<std::thread::id> ids_;
  std::vector<std::thread> threads_;
};

}  // namespace cohort::comm

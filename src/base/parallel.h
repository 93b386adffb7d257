#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cohort {

/// A parallel for loop over independent iterations.
///
/// Threads: run() from any thread; a body must not call run() of the same object.
/// Failure: run() rethrows the first exception of a body after every thread has left the loop. Pieces that no
/// thread had begun are skipped.
class Parallel {
 public:
  /// Runs the iterations [first, last).
  using Body = std::function<void(std::size_t first, std::size_t last)>;

  virtual ~Parallel() = default;
  /// Calls `body` with pieces that cover [0, count), each iteration once. The length of every piece but the
  /// last is a multiple of `grain` (at least 1), the number of iterations that are worth waking a thread for.
  virtual void run(std::size_t count, std::size_t grain, const Body& body) const = 0;
};

/// Runs the whole loop on the calling thread.
class SerialLoop final : public Parallel {
 public:
  void run(std::size_t count, std::size_t grain, const Body& body) const override;
};

/// Runs loops on the calling thread and on worker threads that sleep between loops.
///
/// Threads: loops of several callers run one after the other.
/// Lifetime: the destructor joins the workers; no thread may be in run() then.
/// Cost: about 10 µs to wake the workers; a loop of at most one grain wakes none.
class ThreadedLoop final : public Parallel {
 public:
  /// `num_threads` (at least 1) includes the calling thread.
  explicit ThreadedLoop(int num_threads);
  ~ThreadedLoop() override;
  ThreadedLoop(const ThreadedLoop&) = delete;
  ThreadedLoop& operator=(const ThreadedLoop&) = delete;

  void run(std::size_t count, std::size_t grain, const Body& body) const override;

 private:
  struct Loop;

  std::size_t piece_of(std::size_t count, std::size_t grain) const;
  void serve();
  void stop();

  mutable std::mutex turn_;  ///< held by the caller whose loop runs
  mutable std::mutex mutex_;
  mutable std::condition_variable begun_;
  mutable std::condition_variable ended_;
  mutable Loop* loop_ = nullptr;         ///< the loop that workers join; null between loops
  mutable std::uint64_t num_loops_ = 0;  ///< number of the current loop: a worker joins each loop once
  mutable int num_helping_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cohort

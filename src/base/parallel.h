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

/// Runs a loop whose turns do not depend on each other, on as many threads as it has.
///
/// Threads: run() from any thread; a body must not call run() of the same object.
/// Failure: the first exception of a body is rethrown once no thread works any more; pieces that were not
/// begun by then are left out.
class Parallel {
 public:
  /// Works on the turns [first, last).
  using Body = std::function<void(std::size_t first, std::size_t last)>;

  virtual ~Parallel() = default;
  /// Gives [0, count) to `body`, each turn once, in pieces. All but the last are multiples of `grain` (at
  /// least 1), which says how many turns are worth the way to another thread.
  virtual void run(std::size_t count, std::size_t grain, const Body& body) const = 0;
};

/// The caller's thread and no other.
class SerialLoop final : public Parallel {
 public:
  void run(std::size_t count, std::size_t grain, const Body& body) const override;
};

/// The caller's thread and others that sleep between loops.
///
/// Threads: several callers take turns.
/// Lifetime: the destructor joins its threads; nobody may be in run().
/// Cost: some 10 µs to wake the others; a loop of one grain wakes nobody.
class ThreadedLoop final : public Parallel {
 public:
  /// With the caller's thread, `num_threads` (at least 1) work on a loop.
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

  mutable std::mutex turn_;  ///< held by the caller whose loop it is
  mutable std::mutex mutex_;
  mutable std::condition_variable begun_;
  mutable std::condition_variable ended_;
  mutable Loop* loop_ = nullptr;         ///< what the threads shall help with
  mutable std::uint64_t num_loops_ = 0;  ///< tells a thread whether it has seen this one
  mutable int num_helping_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cohort

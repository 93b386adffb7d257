#include "base/parallel.h"

#include "base/check.h"

#include <algorithm>
#include <atomic>

namespace cohort {

void SerialLoop::run(std::size_t count, std::size_t grain, const Body& body) const {
  COHORT_CHECK_GT(grain, 0u);
  if (count > 0) body(0, count);
}

/// A running loop: a thread that is free takes the next piece.
struct ThreadedLoop::Loop {
  const Body& body;
  const std::size_t count;
  const std::size_t piece;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex = {};
  std::exception_ptr failure = nullptr;

  void work() {
    try {
      // `next` passes `count` by at most one piece per thread, so the sum cannot wrap.
      for (std::size_t first = next.fetch_add(piece); first < count; first = next.fetch_add(piece)) {
        body(first, first + std::min(piece, count - first));
      }
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  }
};

ThreadedLoop::ThreadedLoop(int num_threads) {
  COHORT_CHECK_GE(num_threads, 1);
  try {
    for (int i = 1; i < num_threads; ++i) threads_.emplace_back([this] { serve(); });
  } catch (...) {
    stop();
    throw;
  }
}

ThreadedLoop::~ThreadedLoop() {
  stop();
}

void ThreadedLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Several pieces per thread, so that the others take over the pieces of a thread that is slow or preempted.
std::size_t ThreadedLoop::piece_of(std::size_t count, std::size_t grain) const {
  constexpr std::size_t kPiecesPerThread = 4;
  const std::size_t pieces = kPiecesPerThread * (threads_.size() + 1);
  const std::size_t grains = count / grain / pieces + 1;
  return grains * grain;
}

void ThreadedLoop::run(std::size_t count, std::size_t grain, const Body& body) const {
  COHORT_CHECK_GT(grain, 0u);
  if (count == 0) return;
  if (threads_.empty() || count <= grain) return body(0, count);
  const std::lock_guard turn(turn_);
  Loop loop{.body = body, .count = count, .piece = piece_of(count, grain)};
  {
    const std::lock_guard lock(mutex_);
    loop_ = &loop;
    ++num_loops_;
  }
  begun_.notify_all();
  loop.work();
  {
    // No piece is left: a worker that wakes now finds no loop, a worker in the loop is at its last piece.
    std::unique_lock lock(mutex_);
    loop_ = nullptr;
    ended_.wait(lock, [&] { return num_helping_ == 0; });
  }
  if (loop.failure) std::rethrow_exception(loop.failure);
}

void ThreadedLoop::serve() {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    begun_.wait(lock, [&] { return stopped_ || (loop_ != nullptr && num_loops_ != seen); });
    if (stopped_) return;
    seen = num_loops_;
    Loop* const loop = loop_;
    ++num_helping_;
    lock.unlock();
    loop->work();
    lock.lock();
    if (--num_helping_ == 0) ended_.notify_all();
  }
}

}  // namespace cohort

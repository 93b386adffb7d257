#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace cohort::c10d_plugin {

/// Counts operations in flight, and lets a thread wait until none are.
///
/// Threads: every method from any thread.
class OpenCount {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  /// Returns when the count is 0, or after `limit`.
  void wait_for_none(std::chrono::nanoseconds limit) {
    std::unique_lock lock(mutex_);
    none_.wait_for(lock, limit, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int count_ = 0;
};

}  // namespace cohort::c10d_plugin

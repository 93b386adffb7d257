#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace cohort::c10d_plugin {

/// How many things are under way, and a place to wait until there are none.
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
  /// For `limit` at most.
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

#pragma once

#include "base/result.h"

#include <atomic>
#include <mutex>
#include <optional>

namespace cohort::comm {

/// The first failure of a group, which sticks.
///
/// Threads: every method from any thread; has_failed() costs one load.
class GroupFailure {
 public:
  bool has_failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  /// True if this was the first.
  bool fail(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (error_) return false;
    error_ = error;
    failed_.store(true, std::memory_order_release);
    return true;
  }
  std::optional<Error> error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace cohort::comm

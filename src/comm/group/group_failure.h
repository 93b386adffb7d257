#pragma once

#include "base/result.h"

#include <atomic>
#include <mutex>
#include <optional>

namespace cohort::comm {

/// The first failure of a group, which sticks. A member that left in order is less than a failure: calls that
/// it had done its part in can still end well, later calls cannot.
///
/// Threads: every method from any thread; has_failed() and is_over() cost one load.
class GroupFailure {
 public:
  bool has_failed() const noexcept { return state_.load(std::memory_order_acquire) == State::kFailed; }
  /// The group has failed, or a member has left: no new collective can end well.
  bool is_over() const noexcept { return state_.load(std::memory_order_acquire) != State::kFine; }

  /// True if `error` is the first failure.
  bool fail(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (has_failed()) return false;
    error_ = error;
    state_.store(State::kFailed, std::memory_order_release);
    return true;
  }
  /// A member has left. True if the group was fine until now.
  bool depart(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (is_over()) return false;
    error_ = error;
    state_.store(State::kLeft, std::memory_order_release);
    return true;
  }

  /// If the group is over: the failure, or which member left.
  std::optional<Error> error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  /// The failure that sticks.
  std::optional<Error> failure() const {
    const std::lock_guard lock(mutex_);
    return has_failed() ? error_ : std::nullopt;
  }

 private:
  enum class State : int { kFine, kLeft, kFailed };

  std::atomic<State> state_{State::kFine};
  mutable std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace cohort::comm

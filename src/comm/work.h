#pragma once

#include "base/clock.h"
#include "base/result.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cohort {

namespace comm {

/// The place where an operation's outcome is left and waited for.
///
/// Threads: every method from any thread. Callbacks run on the thread that settles, without a lock held.
class Completion {
 public:
  /// `deadline`: when whoever runs the operation will have settled it at the latest.
  explicit Completion(TimePoint deadline) : deadline_(deadline) {}

  /// The first call counts, later ones are ignored.
  void settle(Status outcome);
  std::optional<Status> outcome() const;
  /// The outcome, or nothing at `until`.
  std::optional<Status> wait_until(TimePoint until) const;
  /// Called once with the outcome; at once, on this thread, if it is settled already.
  void then(std::function<void(const Status&)> callback);
  TimePoint deadline() const { return deadline_; }

 private:
  const TimePoint deadline_;
  mutable std::mutex mutex_;
  mutable std::condition_variable settled_;
  std::optional<Status> outcome_;
  std::vector<std::function<void(const Status&)>> callbacks_;
};

}  // namespace comm

/// An operation that was started and goes on by itself.
///
///     Work work = communicator.start(all_reduce(gradients));
///     …
///     COHORT_RETURN_IF_ERROR(work.wait());
///
/// Threads: every method from any thread.
/// Lifetime: copies share the operation. Letting go of all of them does not end it: its numbers must live
/// until it is done, which is by its deadline at the latest.
class [[nodiscard]] Work {
 public:
  explicit Work(std::shared_ptr<comm::Completion> completion) : completion_(std::move(completion)) {}
  /// One that is over already.
  static Work finished(Status outcome);

  /// The outcome of the operation. Ends by the operation's own deadline, a little later at most.
  Status wait() const;
  /// The outcome, or kTimedOut if it is still going on at `until`; it goes on then.
  Status wait_until(TimePoint until) const;
  bool is_done() const;
  /// Called once when it is done, on the thread that finished it: it must be short and must not wait. At
  /// once, on this thread, if it is done already.
  void then(std::function<void(const Status&)> callback) const;

 private:
  std::shared_ptr<comm::Completion> completion_;
};

}  // namespace cohort

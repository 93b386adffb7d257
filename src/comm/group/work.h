#pragma once

#include "base/clock.h"
#include "base/result.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cohort::comm {

/// The outcome of an operation, once it is known; the shared state behind Work.
///
/// Threads: every method from any thread. Callbacks run on the thread that settles, without a lock held.
class Completion {
 public:
  /// `deadline`: the operation settles by then at the latest.
  explicit Completion(TimePoint deadline) : deadline_(deadline) {}

  /// Sets the outcome. Calls after the first are ignored.
  void settle(Status outcome);
  std::optional<Status> outcome() const;
  /// The outcome, or nothing at `until`.
  std::optional<Status> wait_until(TimePoint until) const;
  /// Calls `callback` once with the outcome; at once, on this thread, if that is known already.
  void then(std::function<void(const Status&)> callback);
  TimePoint deadline() const { return deadline_; }

 private:
  const TimePoint deadline_;
  mutable std::mutex mutex_;
  mutable std::condition_variable settled_;
  std::optional<Status> outcome_;
  std::vector<std::function<void(const Status&)>> callbacks_;
};

/// An operation that runs in the background, as torch.distributed's Work.
///
///     Work work = communicator.start(all_reduce(gradients));
///     …
///     COHORT_RETURN_IF_ERROR(work.wait());
///
/// Threads: every method from any thread.
/// Lifetime: copies share the operation. Destroying all copies does not end the operation: its numbers must
/// live until it is done, which is by its deadline at the latest.
class [[nodiscard]] Work {
 public:
  explicit Work(std::shared_ptr<Completion> completion) : completion_(std::move(completion)) {}
  /// A Work that is done, with this outcome.
  static Work finished(Status outcome);

  /// Waits for the outcome, which comes by the operation's own deadline, or a little later.
  Status wait() const;
  /// The outcome, or kTimedOut if the operation is not done at `until`; it continues then.
  Status wait_until(TimePoint until) const;
  bool is_done() const;
  /// Calls `callback` once when the operation is done, on the thread that finished it: it must be short and
  /// must not wait. At once, on this thread, if the operation is done already.
  void then(std::function<void(const Status&)> callback) const;

 private:
  std::shared_ptr<Completion> completion_;
};

}  // namespace cohort::comm

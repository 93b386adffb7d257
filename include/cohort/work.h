#pragma once

#include <cohort/export.h>

#include <chrono>
#include <memory>

namespace cohort {

/// A call that runs in the background, as torch.distributed's Work or an MPI_Request.
///
///     cohort::Work work = group.async_all_reduce(gradients);
///     …
///     work.wait();
///
/// Threads: every method from any thread.
/// Lifetime: copies share the call. Destroying all copies does not end the call: its numbers must live until
/// it is done, which is by its timeout at the latest. A tensor is kept alive by the call.
/// Failure: wait() and wait_for() throw the Error that the blocking call would throw.
class COHORT_EXPORT Work {
 public:
  /// Waits until the call is done.
  void wait() const;
  /// Waits for up to `time`; true if the call is done.
  bool wait_for(std::chrono::nanoseconds time) const;
  /// True if the call is done or has failed.
  bool is_done() const;

 private:
  friend class Group;
  struct State;
  explicit Work(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace cohort

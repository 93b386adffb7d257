#pragma once

#include "mpi/calls.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace cohort::mpi {

/// Runs collective calls as blocking collectives of MPI, one at a time: on the caller's thread, or on a
/// thread of the group in the order in which they were started. The progress thread watches the deadline of
/// the running call.
///
/// Threads: every method from any thread; advance() as for every Task.
/// Lifetime: as Calls; call close() before the destructor.
/// Failure: a call that passes its deadline is ended by revoking the group. If MPI cannot revoke, only the
/// end of the process ends the call: `on_failure` must end the process and not return.
/// Cost: one lock per call besides MPI's own time; deadlines are noticed some milliseconds late.
class WatchedCalls final : public Calls {
 public:
  using Calls::Calls;

  Status run(const Call& call);
  /// The call must have a limit.
  comm::Work start(const Call& call);
  /// Ends every pending call. No thread may be in run(), and the progress thread must not advance this any
  /// more.
  void close();
  bool advance() override;
  TimePoint wanted_at() const override;

 private:
  struct Queued {
    Call call;
    std::shared_ptr<comm::Completion> completion;
  };

  /// Called with turn_mutex_ held.
  Status make(const Call& call, std::chrono::nanoseconds limit);
  Status reason(int code, const Call& call);
  void work(const std::stop_token& stop);
  std::optional<Queued> next(const std::stop_token& stop);
  bool end_if_hopeless(std::uint64_t sequence, bool is_late);
  bool end_if_queued_too_long();

  std::mutex turn_mutex_;  // held while a call runs
  std::uint64_t sequence_ = 0;
  std::atomic<int> num_queued_{0};  // includes the running call

  // The running call: written with turn_mutex_ held, read by the progress thread.
  std::atomic<std::uint64_t> watched_{0};  // its sequence number; 0: no call runs
  std::atomic<const Call*> watched_call_{nullptr};
  std::atomic<std::int64_t> watched_limit_{0};
  std::mutex watch_mutex_;  // held while the progress thread reads the call

  std::mutex queue_mutex_;
  std::condition_variable_any queue_changed_;
  std::deque<Queued> queue_;
  std::jthread worker_;  // runs from the first start() on

  // Used only by the thread in advance().
  std::uint64_t seen_ = 0;
  TimePoint late_at_ = TimePoint::max();
};

}  // namespace cohort::mpi

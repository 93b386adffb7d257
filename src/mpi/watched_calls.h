#pragma once

#include "mpi/calls.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace cohort::mpi {

/// Calls as blocking collectives of MPI, one at a time: on the caller's thread, or on a thread of the group
/// in the order in which they were started. The progress thread looks after the one that goes on.
///
/// Threads, Lifetime: as Calls.
/// Failure: a call that does not end in time is ended by revoking the group. Where MPI cannot revoke, nothing
/// but the end of the process ends it: `on_failure` must bring that about and must not return.
/// Cost: besides MPI's own time, that of one lock; deadlines are noticed some milliseconds late.
class WatchedCalls final : public Calls {
 public:
  using Calls::Calls;

  Status run(const Call& call) override;
  Work start(const Call& call) override;
  void close() override;
  bool is_clean() const override { return true; }
  bool advance() override;
  TimePoint wanted_at() const override;

 private:
  struct Queued {
    Call call;
    std::shared_ptr<comm::Completion> completion;
  };

  /// With the turn.
  Status make(const Call& call, std::chrono::nanoseconds limit);
  Status reason(int code, const Call& call);
  void work(const std::stop_token& stop);
  std::optional<Queued> next(const std::stop_token& stop);
  bool end_if_hopeless(std::uint64_t sequence, bool is_late);
  bool end_if_queued_too_long();

  std::mutex turn_mutex_;  // whoever holds it has the turn
  std::uint64_t sequence_ = 0;
  std::atomic<int> num_queued_{0};  // those under way included

  // What goes on: written with the turn, looked at by the progress thread.
  std::atomic<std::uint64_t> watched_{0};  // its sequence number, 0: nothing
  std::atomic<const Call*> watched_call_{nullptr};
  std::atomic<std::int64_t> watched_limit_{0};
  std::mutex watch_mutex_;  // held while the progress thread reads the call

  std::mutex queue_mutex_;
  std::condition_variable_any queue_changed_;
  std::deque<Queued> queue_;
  std::jthread worker_;  // from the first start() on

  // Of whoever advances.
  std::uint64_t seen_ = 0;
  TimePoint late_at_ = TimePoint::max();
};

}  // namespace cohort::mpi

#pragma once

#include "comm/communicator.h"
#include "comm/group_failure.h"
#include "comm/progress.h"
#include "mpi/flight.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cohort::mpi {

/// The collective calls of one group: each is a non-blocking collective of MPI, begun in the order in which
/// it is made, and asked how far it is until it is done: by whoever waits in run(), or by the progress
/// thread.
///
/// Threads: every method from any thread; advance() as of every task.
/// Lifetime: close() when nobody advances it any more and nobody is in run().
/// Failure: the first one sticks. MPI takes nothing back: where it cannot revoke, the memory of a call that
/// was given up stays in its hands.
class Calls final : public comm::Task {
 public:
  struct Group {
    GroupFacts facts;
    CohortMpiHandle comm = 0;
    std::vector<int> world_ranks{};  ///< by rank
  };
  /// `on_failure` is told once, on whichever thread finds out, without a lock held.
  Calls(Library& library, Group group, std::function<void(const Error&)> on_failure);

  Status run(const Call& call);
  /// The call has a limit.
  Work start(const Call& call);
  /// Makes the group fail, and returns its failure, which may be an earlier one.
  Error fail(const Error& error);
  std::optional<Error> failure() const { return failure_.failure(); }
  /// Ends everything that is pending.
  void close();
  /// No call was given up: MPI is through with all of them.
  bool is_clean() const;

  bool advance() override;
  TimePoint wanted_at() const override;

 private:
  struct Pending {
    Pending(const Flight::Place& place, const Call& made, TimePoint until)
        : call(made), flight(place, call), deadline(until) {}
    const Call call;
    Flight flight;
    const TimePoint deadline;
    std::shared_ptr<comm::Completion> completion{};
    std::uint64_t sequence = 0;
    int code = 0;  // that it ended with
    TimePoint ended_at{};
  };
  using Shared = std::shared_ptr<Pending>;

  Result<Shared> begin(const Call& call);
  /// The outcome, if there is one by now.
  std::optional<Status> look(const Shared& pending);
  std::optional<Status> explain(const Pending& pending);
  Error broken_off(const Pending& pending) const;
  Error timed_out(const Pending& pending) const;
  void give_up(const Shared& pending);
  std::vector<int> lost_ranks();
  std::string text(const Call& call, std::uint64_t sequence) const;
  bool settle_some(std::vector<Shared>& active);

  Library& library_;
  const Group group_;
  const std::function<void(const Error&)> on_failure_;
  comm::GroupFailure failure_;

  std::mutex order_mutex_;  // held while a call begins: all ranks begin theirs in the same order
  std::uint64_t sequence_ = 0;
  mutable std::mutex mutex_;  // guards these
  std::vector<Shared> started_;
  bool is_clean_ = true;
  std::vector<Shared> active_;  // of whoever advances
  TimePoint moved_at_{};
};

}  // namespace cohort::mpi

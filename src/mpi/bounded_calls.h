#pragma once

#include "mpi/calls.h"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cohort::mpi {

/// Calls as non-blocking collectives of MPI: each is begun when it is made, and asked how far it is until it
/// is done: by whoever waits in run(), or by the progress thread.
///
/// Threads, Lifetime: as Calls.
/// Failure: every wait ends at its deadline. Where MPI cannot revoke, the memory of a call that was given up
/// stays in its hands.
/// Cost: in some implementations a non-blocking collective takes twice as long as the blocking one.
class BoundedCalls final : public Calls {
 public:
  using Calls::Calls;

  Status run(const Call& call) override;
  Work start(const Call& call) override;
  void close() override;
  bool is_clean() const override;
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
    int code = 0;           // that it ended with
    TimePoint looked_at{};  // for the last time before it ended
  };
  using Shared = std::shared_ptr<Pending>;

  Result<Shared> begin(const Call& call);
  /// The outcome, if there is one by now.
  std::optional<Status> look(const Shared& pending);
  void give_up(const Shared& pending);
  void take_started();
  bool settle_some();

  std::mutex order_mutex_;  // held while a call begins: all ranks begin theirs in the same order
  std::uint64_t sequence_ = 0;
  mutable std::mutex mutex_;  // guards the next two
  std::vector<Shared> started_;
  bool is_clean_ = true;
  std::vector<Shared> active_;  // of whoever advances
  TimePoint moved_at_{};
};

}  // namespace cohort::mpi

#pragma once

#include "comm/communicator.h"
#include "comm/group_failure.h"
#include "comm/progress.h"
#include "mpi/attendance.h"
#include "mpi/flight.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace cohort::mpi {

/// The collective calls of one group, in their order.
///
/// Threads: every method from any thread; advance() as of every task.
/// Lifetime: close() when nobody advances it any more and nobody is in run().
/// Failure: the first one sticks, and revokes the group where MPI can.
class Calls : public comm::Task {
 public:
  struct Group {
    GroupFacts facts;
    CohortMpiHandle comm = 0;
    std::vector<int> world_ranks{};  ///< by rank
  };
  using OnFailure = std::function<void(const Error&)>;
  /// `on_failure` is told once, on whichever thread finds out, without a lock held.
  Calls(Library& library, Attendance& attendance, Group group, OnFailure on_failure);

  virtual Status run(const Call& call) = 0;
  /// The call has a limit.
  virtual Work start(const Call& call) = 0;
  /// Ends everything that is pending.
  virtual void close() = 0;
  /// MPI is through with all calls, those that were given up included.
  virtual bool is_clean() const = 0;

  /// Makes the group fail. False if it had failed before.
  bool fail(const Error& error);
  std::optional<Error> failure() const { return failure_.failure(); }

 protected:
  bool has_failed() const { return failure_.has_failed(); }
  const GroupFacts& facts() const { return group_.facts; }
  Library& library() const { return library_; }
  Flight::Place place() const;
  std::string text(const Call& call, std::uint64_t sequence) const;

  /// What a call that MPI ended with an error came to; nothing while the reason may still be on its way.
  std::optional<Status> explain(int code, TimePoint ended_at, const Call& call, std::uint64_t sequence);
  /// Makes the group fail with what became of this call; if it has failed before, that is what became of it.
  Error fail_call(const Error& error, const Call& call, std::uint64_t sequence);
  Error broken_off(const Call& call, std::uint64_t sequence) const;
  /// What is known of a call that is late; nothing while others may still say where they are.
  std::optional<Error> timed_out(const Call& call, std::uint64_t sequence);
  /// A call that waited for its turn until it was too late.
  Error never_begun(const Call& call) const;
  /// A rank that this call needs has left.
  std::optional<Error> deserted(const Call& call, std::uint64_t sequence) const;
  Attendance& attendance() const { return attendance_; }
  Error closed() const;

 private:
  std::vector<int> lost_ranks();

  Library& library_;
  Attendance& attendance_;
  const Group group_;
  const OnFailure on_failure_;
  comm::GroupFailure failure_;
};

}  // namespace cohort::mpi

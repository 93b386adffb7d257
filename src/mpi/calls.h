#pragma once

#include "comm/group/communicator.h"
#include "comm/group/group_failure.h"
#include "comm/progress/progress.h"
#include "mpi/attendance.h"
#include "mpi/flight.h"
#include "mpi/shared_comm.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace cohort::mpi {

/// State that all collective calls of one group share: the failure of the group, and errors that name rank,
/// call and cause. WatchedCalls runs the calls.
///
/// Threads: every method from any thread; advance() as for every Task.
/// Lifetime: the library and the attendance must outlive it.
/// Failure: the first failure is final; it revokes the group where MPI can.
class Calls : public comm::Task {
 public:
  struct Group {
    GroupFacts facts;
    std::shared_ptr<SharedComm> comm{};
    std::vector<int> world_ranks{};  ///< index: rank in the group; value: rank in MPI_COMM_WORLD
  };
  using OnFailure = std::function<void(const Error&)>;
  /// `on_failure` is called once, on the thread that finds the failure, without a lock held.
  Calls(Library& library, Attendance& attendance, Group group, OnFailure on_failure);

  /// Fails the group. False if the group had failed before.
  bool fail(const Error& error);
  std::optional<Error> failure() const { return failure_.failure(); }

 protected:
  bool has_failed() const { return failure_.has_failed(); }
  const GroupFacts& facts() const { return group_.facts; }
  Library& library() const { return library_; }
  Flight::Group flight_group() const;
  std::string text(const Call& call, std::uint64_t sequence) const;

  /// The outcome of a call that MPI ended with an error code; nullopt while the reason may still arrive.
  std::optional<Status> explain(int code, TimePoint ended_at, const Call& call, std::uint64_t sequence);
  /// Fails the group with the error of this call. If the group failed before, returns that failure instead.
  Error fail_call(const Error& error, const Call& call, std::uint64_t sequence);
  Error broken_off(const Call& call, std::uint64_t sequence) const;
  /// The error of a call whose deadline has passed; nullopt while other ranks may still answer where they
  /// are.
  std::optional<Error> timed_out(const Call& call, std::uint64_t sequence);
  /// The error of a queued call whose deadline passed before it began.
  Error never_begun(const Call& call) const;
  /// The error of a call that needs a rank that has left; nullopt if all ranks are there.
  std::optional<Error> deserted(const Call& call, std::uint64_t sequence) const;
  Attendance& attendance() const { return attendance_; }
  Error closed() const;

 private:
  std::vector<int> lost_ranks();  // of this group, as errors name them

  Library& library_;
  Attendance& attendance_;
  const Group group_;
  const OnFailure on_failure_;
  comm::GroupFailure failure_;
};

}  // namespace cohort::mpi

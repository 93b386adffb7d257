#pragma once

#include "base/clock.h"
#include "mpi/library.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace cohort::mpi {

/// An MPI communicator that a group, the engine of its generation and the way to the next generation share.
///
/// Threads: every method from any thread.
/// Lifetime: freed with its last owner, unless it was revoked or abandoned: MPI may still be at work on it.
class SharedComm {
 public:
  SharedComm(std::shared_ptr<Library> library, CohortMpiHandle comm)
      : library_(std::move(library)), comm_(comm) {}
  ~SharedComm();
  SharedComm(const SharedComm&) = delete;
  SharedComm& operator=(const SharedComm&) = delete;

  CohortMpiHandle handle() const { return comm_; }
  /// Ends the calls of all ranks, where MPI can. All ranks must have finished making the communicator: Open
  /// MPI 5.0 ends a process that hears of a revocation before.
  void revoke();
  /// Calls that were given up are still pending: the communicator is never freed.
  void abandon() { is_kept_ = true; }

  /// A communicator of the surviving ranks and nobody else, on which MPI has made them agree
  /// (MPIX_Comm_shrink). Every survivor calls this, whether it knows of a loss or not.
  ///
  /// Failure: kTimedOut if not all living ranks have called by the deadline; a later call goes on waiting.
  /// Once all have called, MPI does the rest in a call without a deadline, which a rank that is stopped, and
  /// not killed, in that moment holds up.
  Result<std::shared_ptr<SharedComm>> shrink(TimePoint deadline);
  /// The rank of each of its ranks in MPI_COMM_WORLD.
  Result<std::vector<int>> world_ranks() const;

 private:
  Status wait_for_all(TimePoint deadline);

  const std::shared_ptr<Library> library_;
  const CohortMpiHandle comm_;
  std::atomic<bool> is_kept_{false};
  std::mutex mutex_;             // of the two below
  CohortMpiHandle waiting_ = 0;  // the agreement that this rank has begun; 0: none
  bool have_all_come_ = false;
};

}  // namespace cohort::mpi

#pragma once

#include "comm/exchange/exchange.h"
#include "comm/progress/progress.h"
#include "mpi/flight.h"
#include "mpi/transport.h"

#include <atomic>
#include <memory>
#include <vector>

namespace cohort::mpi {

/// Returns the number of rank 0 on every rank of a new MPI communicator; the number must not be negative. No
/// rank gets the number before all ranks have called: Open MPI 5.0 ends a process that hears of a revocation
/// while it still makes the communicator.
///
/// Failure: kTimedOut at the deadline; kPeerLost if a rank has ended meanwhile.
Result<std::int64_t> agree(Library& library, const Flight::Group& group, std::int64_t number,
                           TimePoint deadline);

/// The numbers of all ranks of a new MPI communicator, by rank.
///
/// Failure: kTimedOut at the deadline; kPeerLost if a rank has ended meanwhile.
Result<std::vector<std::int64_t>> gather(Library& library, const Flight::Group& group, std::int64_t number,
                                         TimePoint deadline);

/// Shared by the groups of one process: the exchange of messages with all members of the first group, and the
/// progress thread.
///
/// Threads: every method from any thread.
/// Lifetime: shared by the groups; the last owner ends it.
class Member {
 public:
  /// Every rank of the communicator calls this.
  static Result<std::shared_ptr<Member>> open(std::shared_ptr<Library> library, CohortMpiHandle comm,
                                              TimePoint deadline);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  Library& library() { return *library_; }
  const std::shared_ptr<Library>& shared_library() const { return library_; }
  comm::Exchange& exchange() { return exchange_; }
  comm::Progress& progress() { return progress_; }
  const std::vector<int>& world_ranks() const { return world_ranks_; }
  /// A message is expected soon: the transport polls MPI often again.
  void stir() { transport_.stir(); }
  /// A number for a new group; no other member gives out the same one.
  std::int64_t fresh_group();

 private:
  Member(std::shared_ptr<Library> library, std::unique_ptr<MpiTransport> transport,
         std::vector<int> world_ranks);

  const std::shared_ptr<Library> library_;
  const std::vector<int> world_ranks_;
  MpiTransport& transport_;
  RealClock clock_;
  comm::LocalDoorbell doorbell_;
  comm::Exchange exchange_;
  comm::Progress progress_;
  std::atomic<std::int64_t> num_groups_{0};
};

}  // namespace cohort::mpi

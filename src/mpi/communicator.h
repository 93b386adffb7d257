#pragma once

#include "comm/communicator.h"
#include "comm/scheduled/group.h"
#include "mpi/calls.h"
#include "mpi/member.h"

#include <functional>
#include <memory>

namespace cohort::mpi {

/// How a call waits for the others; the same on all ranks.
enum class Waiting {
  kBounded,  ///< non-blocking collectives: every wait ends at its deadline
  /// Blocking collectives, which some implementations make twice as fast. A call that is late is ended by
  /// revoking the group, or, where MPI cannot do that, with the process, by `on_failure`.
  kWatched,
};

struct CommunicatorOptions {
  std::string name = "world";
  std::uint32_t generation = 0;
  std::chrono::nanoseconds limit = std::chrono::seconds(30);  ///< of calls that have none of their own
  /// Told once when a group fails, on any thread. Where traits() says not abortable, whoever owns the process
  /// ends it here: memory of calls that were given up is still in the hands of MPI.
  std::function<void(const Error&)> on_failure{};
  Waiting waiting = Waiting::kBounded;
};

/// The communicator of ranks that mpirun or srun started. Collectives are MPI's own, groups are communicators
/// of MPI; send, receive and the mailbox go through an exchange of messages, which MPI carries.
///
/// Order of combination: whatever MPI takes, the same for the same call in the same job.
///
/// Threads: as every communicator.
/// Lifetime: as every communicator. Library::finish() comes after the last of them.
/// Failure: as every communicator, except that calls are not compared: ranks that make different calls wait
/// for each other until the limit, or get numbers of the wrong call. Where MPI goes on without lost ranks, a
/// failure revokes the group and survivors shrink() it; where it does not, traits() says not abortable. Cost:
/// one thread per process, which asks MPI for messages every five milliseconds when there are none.
class MpiCommunicator final : public Communicator {
 public:
  /// The group of all ranks of the job. Every rank calls this. kUsage if nothing could end a late call.
  static Result<std::unique_ptr<MpiCommunicator>> make_world(const std::shared_ptr<Library>& library,
                                                             const CommunicatorOptions& options);
  /// The group of a communicator of MPI, which it takes over. Every rank of that calls this.
  static Result<std::unique_ptr<MpiCommunicator>> adopt(const std::shared_ptr<Library>& library,
                                                        CohortMpiHandle comm,
                                                        const CommunicatorOptions& options);
  ~MpiCommunicator() override;

  /// The group of those that are left, of the next generation. Every survivor calls this; it ends what is
  /// pending here. kUnsupported where MPI does not go on without lost ranks.
  Result<std::unique_ptr<MpiCommunicator>> shrink();

  CommunicatorTraits traits() const override;
  std::unique_ptr<Mailbox> open_mailbox() override;
  void abort(const Error& cause) override;
  std::optional<Error> failure() const override { return calls_->failure(); }

 private:
  /// What groups that are split from each other have in common.
  struct Shared {
    std::shared_ptr<Member> member;
    std::function<void(const Error&)> on_failure;
    Waiting waiting;
  };
  MpiCommunicator(Shared shared, Calls::Group group, comm::Line::Place place);

  Status do_run(const Call& call) override;
  Work do_start(const Call& call) override;
  Result<std::unique_ptr<Communicator>> do_split(const GroupFacts& facts,
                                                 const std::vector<int>& members) override;
  void spread(const Error& error);

  std::unique_ptr<Calls> make_calls(Calls::Group group);

  const Shared shared_;
  Member& member_;
  const CohortMpiHandle comm_;
  const std::vector<int> world_ranks_;
  Attendance attendance_;
  const std::unique_ptr<Calls> calls_;
  comm::Group messages_;  // send and receive, and what ranks tell each other about failures
};

}  // namespace cohort::mpi

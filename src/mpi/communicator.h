#pragma once

#include "comm/group/communicator.h"
#include "comm/message_passing/group.h"
#include "mpi/engine.h"
#include "mpi/member.h"
#include "mpi/watched_calls.h"
#include <cohort/default_limit.h>

#include <functional>
#include <memory>

namespace cohort::mpi {

struct CommunicatorOptions {
  std::string name = "world";
  std::uint32_t generation = 0;
  std::chrono::nanoseconds limit = DefaultLimit::kCall;  ///< timeout of calls without one of their own
  std::shared_ptr<const comm::GenerationEnd> end{};      ///< as in GroupFacts
  /// Called once when a group fails, on any thread. If traits() says not abortable, it must end the process:
  /// MPI still uses the buffers of the failed call. Required in that case.
  std::function<void(const Error&)> on_failure{};
};

/// The communicator of ranks that mpirun or srun started. Collective calls are blocking collectives of MPI,
/// groups are MPI communicators. Send, receive and the mailbox go through an Exchange whose frames travel as
/// MPI messages.
///
/// Order of combination: chosen by MPI, the same for the same call in the same job.
///
/// Threads: as every communicator.
/// Lifetime: as every communicator. Library::finish() comes after the last of them.
/// Failure: as every communicator, except that calls are not compared: ranks that make different calls wait
/// for each other until the deadline, or get the data of the wrong call. If the MPI library is
/// fault-tolerant, a failure revokes the group, and the survivors adopt() what SharedComm::shrink() returns;
/// otherwise traits() says not abortable.
/// Cost: one progress thread per process, which polls MPI for messages every five milliseconds when there are
/// none.
class MpiCommunicator final : public Communicator {
 public:
  /// The group of all ranks of the job. Every rank calls this. kUsage if nothing could end a late call.
  static Result<std::unique_ptr<MpiCommunicator>> make_world(const std::shared_ptr<Library>& library,
                                                             const CommunicatorOptions& options);
  /// The group of an MPI communicator. Every rank of it calls this.
  static Result<std::unique_ptr<MpiCommunicator>> adopt(const std::shared_ptr<Library>& library,
                                                        const std::shared_ptr<SharedComm>& comm,
                                                        const CommunicatorOptions& options);
  ~MpiCommunicator() override;

  CommunicatorTraits traits() const override;
  std::unique_ptr<Mailbox> open_mailbox() override;
  void abort(const Error& cause) override;
  std::optional<Error> failure() const override { return calls_.failure(); }
  std::shared_ptr<comm::Engine> engine() const override { return mpi_engine(); }
  const std::shared_ptr<SharedComm>& mpi_comm() const { return comm_; }
  std::shared_ptr<MpiEngine> mpi_engine() const { return std::make_shared<MpiEngine>(shared_.member, comm_); }

 private:
  /// Shared by groups that were split from each other.
  struct Shared {
    std::shared_ptr<Member> member;
    std::function<void(const Error&)> on_failure;
  };
  MpiCommunicator(Shared shared, Calls::Group group, comm::Line::Membership membership);

  Status do_run(const Call& call) override;
  comm::Work do_start(const Call& call) override;
  Result<std::unique_ptr<Communicator>> do_split(const GroupFacts& facts,
                                                 const std::vector<int>& members) override;
  void spread(const Error& error);

  const Shared shared_;
  Member& member_;
  const std::shared_ptr<SharedComm> comm_;
  const std::vector<int> world_ranks_;
  Attendance attendance_;
  WatchedCalls calls_;
  comm::Group messages_;  // send, receive, and notices of failures
};

}  // namespace cohort::mpi

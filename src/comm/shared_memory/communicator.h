#pragma once

#include "comm/communicator.h"
#include "comm/scheduled/group.h"
#include "comm/shared_memory/call_queue.h"
#include "comm/shared_memory/collective.h"
#include "comm/shared_memory/messages.h"

#include <atomic>
#include <memory>

namespace cohort {

struct SharedMemoryOptions {
  std::string rendezvous{};  ///< the same for all ranks of the job, and for nobody else
  GroupFacts facts{};
  std::chrono::nanoseconds liveness = std::chrono::milliseconds(500);  ///< how long a rank may be frozen
  std::chrono::nanoseconds meeting_limit = std::chrono::seconds(30);  ///< how long all ranks may take to come
};

/// The communicator of ranks on one host. Numbers in the arena are neither copied nor sent: each rank
/// combines its slice of everybody's buffers and writes it back. Other numbers pass through the arena chunk
/// by chunk.
///
/// Order of combination: from rank 0 to the last, from the left, for every element, operation, size and place
/// of memory.
///
/// Threads: as every communicator. A blocking call works on the caller's thread; asynchronous ones on the
/// progress thread, in order. Waiting is a bounded spin, then yielding the core, then sleep in the kernel.
/// Lifetime: the arena must outlive it and its sub-groups.
/// Failure: a killed rank is noticed by the end of its line, a frozen one by its heartbeat.
/// Cost: two threads per process; half a MiB of arena per group, kept until the generation is over.
class SharedMemoryCommunicator final : public Communicator {
 public:
  /// Meets the other ranks. kTimedOut names those that have not come.
  static Result<std::unique_ptr<Communicator>> meet(Arena& arena, const SharedMemoryOptions& options);
  ~SharedMemoryCommunicator() override;

  CommunicatorTraits traits() const override;
  Result<std::byte*> see(int owner, std::span<std::byte> mine) override;
  std::unique_ptr<Mailbox> open_mailbox() override;
  void abort(const Error& cause) override;
  std::optional<Error> failure() const override { return failure_.failure(); }

 private:
  /// What the groups of one process share.
  struct Host {
    std::shared_ptr<comm::Neighbours> neighbours;
    std::shared_ptr<comm::HostMessages> messages;
  };
  SharedMemoryCommunicator(const GroupFacts& facts, std::uint64_t id, Host host, std::vector<int> members,
                           comm::OwnBlocks own, comm::GroupView view);

  bool hands_over() const override { return true; }
  Status do_run(const Call& call) override;
  Work do_start(const Call& call) override;
  Result<std::unique_ptr<Communicator>> do_split(const GroupFacts& facts,
                                                 const std::vector<int>& members) override;

  Status outcome(const comm::Collective& collective, const Call& call, std::uint64_t sequence);
  /// Send and receive: made when first asked for.
  comm::Group& messages();
  void fail_messages(const Error& error);
  Status wait_long(comm::Collective& collective, const Call& call, std::uint64_t sequence);

  const std::uint64_t id_;
  const Host host_;
  comm::Neighbours& neighbours_;
  const std::vector<int> members_;  // ranks among the neighbours
  comm::OwnBlocks own_;
  comm::GroupFailure failure_;
  const int spins_;
  std::uint64_t num_splits_ = 0;
  std::atomic<bool> queued_{false};  // the progress thread knows the queue
  comm::CallQueue calls_;
  std::mutex messages_mutex_;
  std::unique_ptr<comm::Group> messages_;
};

}  // namespace cohort

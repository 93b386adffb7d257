#pragma once

#include "comm/group/communicator.h"
#include "comm/message_passing/group.h"
#include "comm/shared_memory/call_queue.h"
#include "comm/shared_memory/collective.h"
#include "comm/shared_memory/host_groups.h"
#include "comm/shared_memory/neighbours.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace cohort {

/// The communicator of ranks on one host. Buffers in the arena are not copied: each rank combines its slice
/// of all ranks' buffers and writes the result back. Other buffers pass through the arena in chunks.
///
/// Order of combination: from rank 0 to the last, from the left, for every element, operation, size and
/// location of the buffers.
///
/// Threads: as every communicator. A blocking call works on the caller's thread, asynchronous calls on the
/// progress thread, in order. Waiting is a bounded spin, then yielding the core, then sleep in the kernel.
/// Lifetime: the arena must outlive it and its sub-groups.
/// Failure: a killed rank is noticed when the kernel closes its control socket, a frozen one by its missing
/// heartbeat.
/// Cost: two threads per process; half a MiB of arena per group, kept until the generation is over.
class SharedMemoryCommunicator final : public Communicator {
 public:
  /// Connects to all other ranks. kTimedOut names the ranks that did not connect.
  static Result<std::unique_ptr<Communicator>> meet(Arena& arena, const SharedMemoryOptions& options);
  /// The group of all ranks that have met as `neighbours`, whose rank and number `facts` repeat. Every rank
  /// calls this.
  static Result<std::unique_ptr<Communicator>> of(const std::shared_ptr<comm::Neighbours>& neighbours,
                                                  const GroupFacts& facts);
  ~SharedMemoryCommunicator() override;

  CommunicatorTraits traits() const override;
  std::vector<int> hosts() const override { return std::vector<int>(static_cast<std::size_t>(size()), 0); }
  Result<std::byte*> see(int owner, std::span<std::byte> mine) override;
  std::unique_ptr<Mailbox> open_mailbox() override;
  void abort(const Error& cause) override;
  std::optional<Error> failure() const override { return failure_.failure(); }
  std::shared_ptr<comm::Engine> engine() const override;

 private:
  friend Result<std::unique_ptr<comm::PendingHostGroup>> comm::begin_shared_memory_group(
      const comm::HostParts& host, const GroupFacts& facts, std::vector<int> near);
  class Pending;
  /// A group whose members know each other's memory.
  struct Formed {
    GroupFacts facts{};
    std::uint32_t number = 0;
    std::vector<int> members{};  ///< numbers on this host, by rank
    comm::OwnBlocks own{};
    comm::GroupView view;
  };
  SharedMemoryCommunicator(comm::HostParts host, Formed formed);

  bool hands_over() const override { return true; }
  Status do_run(const Call& call) override;
  comm::Work do_start(const Call& call) override;
  Result<std::unique_ptr<Communicator>> do_split(const GroupFacts& facts,
                                                 const std::vector<int>& members) override;

  /// The messages of this group (send and receive), made by the first call.
  comm::Group& messages();
  void fail_messages(const Error& error);
  Status wait_long(comm::Collective& collective, const Call& call, std::uint64_t sequence);

  const std::uint32_t id_;
  const comm::HostParts host_;
  comm::Neighbours& neighbours_;
  const std::vector<int> members_;  // index: rank in this group; value: rank on this host
  comm::OwnBlocks own_;
  comm::GroupFailure failure_;
  const int spins_;
  std::atomic<bool> queued_{false};  // calls_ was added to the progress thread
  comm::CallQueue calls_;
  std::mutex messages_mutex_;
  std::unique_ptr<comm::Group> messages_;
};

}  // namespace cohort

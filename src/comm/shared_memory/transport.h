#pragma once

#include "comm/shared_memory/neighbours.h"
#include "comm/shared_memory/ring.h"
#include "comm/transport/transport.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace cohort::comm {

/// Messages between ranks on one host: each rank has one ring of bytes to each other rank, in its own arena.
///
/// Threads: as every transport.
/// Lifetime: the Neighbours must outlive it. It must be opened with a doorbell that the doorbell of the arena
/// rings.
/// Failure: a lost neighbour is reported after everything it wrote was delivered.
/// Cost: two copies of a payload; 128 KiB of arena per member after the first message.
class SharedMemoryTransport final : public Transport {
 public:
  explicit SharedMemoryTransport(Neighbours& neighbours);
  ~SharedMemoryTransport() override;

  int member() const override { return neighbours_.rank(); }
  int num_members() const override { return neighbours_.size(); }
  void open(FrameSink& sink, Doorbell& doorbell) override;
  void send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) override;
  void withdraw(std::uint32_t group, std::uint32_t generation) override;
  void give_up(int member, const Error& why) override;
  void close() override;
  bool advance() override;

 private:
  struct Outgoing {
    FrameHeader header{};
    std::span<const std::byte> payload{};
    Sent sent{};
    std::size_t num_put = 0;  // bytes of header, payload and end byte written so far
    bool withdrawn = false;   // after its first bytes were written: the rest is written as zeros
  };
  struct Incoming {
    std::optional<FrameHeader> header{};
    std::size_t num_taken = 0;  // bytes of the payload
  };
  struct Peer {
    Ring* in = nullptr;  // null until the peer has made its rings
    std::deque<Outgoing> outbox{};
    Incoming incoming{};
    std::optional<Error> loss{};
    bool reported = false;
  };
  struct Receipt {
    Sent sent;
    Status outcome;
  };

  Status make_rings();
  Ring& ring_to(int member) const;
  void close_ring_to(int member);
  bool write_to(int member, std::vector<Receipt>& receipts);
  bool put(Ring& ring, Outgoing& message);
  bool put_payload(Ring& ring, Outgoing& message);
  bool deliver_to_self(std::vector<Receipt>& receipts);
  bool read_from(int member);
  bool take_payload(int member, Peer& peer);
  bool notice_losses();
  bool report(int member, std::vector<Receipt>& receipts);
  void lose(Peer& peer, const Error& why);
  Peer& peer(int member) { return peers_[static_cast<std::size_t>(member)]; }

  Neighbours& neighbours_;
  FrameSink* sink_ = nullptr;
  Doorbell* doorbell_ = nullptr;
  std::mutex mutex_;  // guards outboxes and losses; held while a payload is copied out
  std::condition_variable advanced_;
  bool advancing_ = false;
  bool closed_ = false;
  ArenaBlock rings_;
  int losses_seen_ = 0;
  std::vector<Peer> peers_;
};

}  // namespace cohort::comm

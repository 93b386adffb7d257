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

/// Messages between members of one host: each has a ring of bytes to each other, in its own arena.
///
/// Threads: as every transport.
/// Lifetime: the neighbours must outlive it. Whoever has any opens it with a doorbell that the arena's rings.
/// Failure: a neighbour that is lost is reported once what it had written is delivered.
/// Cost: two copies of a payload, 128 KiB of arena per member once the first message is sent.
class SharedMemoryTransport final : public Transport {
 public:
  explicit SharedMemoryTransport(Neighbours& neighbours);
  ~SharedMemoryTransport() override;

  int member() const override { return neighbours_.rank(); }
  int num_members() const override { return neighbours_.world(); }
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
    std::size_t num_put = 0;  // of header, payload and seal together
    bool withdrawn = false;   // half of it is out: the rest goes out as zeros
  };
  struct Incoming {
    std::optional<FrameHeader> header{};
    std::size_t num_taken = 0;  // of the payload
  };
  struct Peer {
    Ring* in = nullptr;  // once the peer has made it
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

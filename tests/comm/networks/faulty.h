#pragma once

#include "comm/transport/transport.h"

#include <cohort/random.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cohort::comm {

/// The faults of a FaultyTransport, which follow from the seed. Each probability is per received message.
struct TransportFaults {
  std::uint64_t seed = 0;
  double delay = 0;  ///< held back for 1 … delay_advances calls of advance(), and everything behind it, too
  int delay_advances = 8;
  double repeat = 0;                         ///< is delivered a second time, later
  double split = 0;                          ///< its payload is delivered in pieces, one per advance()
  std::optional<std::uint64_t> die_at{};     ///< the member dies after sending this many messages
  std::optional<std::uint64_t> freeze_at{};  ///< the member freezes after sending this many messages
};

/// Injects faults into another transport: messages are late, arrive twice or in pieces, and the member may
/// die or freeze. No message is lost, and the order of each pair is kept. Wrap the transport of one member or
/// of all.
///
/// Threads: as every Transport.
/// Lifetime: as every Transport.
/// Failure: as every Transport. A member that died sees all others as lost. A frozen member sees nothing; the
/// others detect it only by their liveness limit.
/// Cost: one more copy of every payload.
class FaultyTransport final : public Transport, private FrameSink {
 public:
  FaultyTransport(std::unique_ptr<Transport> inner, TransportFaults faults);

  int member() const override { return inner_->member(); }
  int num_members() const override { return inner_->num_members(); }
  void open(FrameSink& sink, Doorbell& doorbell) override;
  void send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) override;
  void withdraw(std::uint32_t group, std::uint32_t generation) override {
    inner_->withdraw(group, generation);
  }
  void give_up(int member, const Error& why) override { inner_->give_up(member, why); }
  void close() override;
  bool advance() override;
  TimePoint wanted_at() const override { return inner_->wanted_at(); }

 private:
  struct Incoming {
    FrameHeader header{};
    std::shared_ptr<std::vector<std::byte>> payload{};
    std::optional<Error> loss{};  // set: this entry is a loss, not a message
    int hold = 0;                 // calls of advance() before it is delivered
    std::size_t num_pieces = 1;
    std::size_t next_piece = 0;
  };

  std::span<std::byte> buffer_for(int from, const FrameHeader& header) override;
  void arrived(int from, const FrameHeader& header) override;
  void withdrawn(int from, const FrameHeader& header) override;
  void lost(int member, const Error& why) override;

  bool happens(double probability) { return random_.uniform(next_random_++) < probability; }
  std::uint64_t below(std::uint64_t limit) { return random_.below(limit, next_random_++); }
  void die();
  void tell_loss(int member, const Error& why);
  bool deliver_front(int from);

  const std::unique_ptr<Transport> inner_;
  const TransportFaults faults_;
  const RandomStream random_;
  std::uint64_t next_random_ = 0;  // used inside advance() only
  std::atomic<std::uint64_t> num_sent_ = 0;
  std::atomic<bool> closed_ = false;
  std::mutex advance_mutex_;  // held by advance(); guards the members below
  bool dead_ = false;
  FrameSink* sink_ = nullptr;
  std::vector<std::vector<std::byte>> rooms_;  // by sender: the buffer that the inner transport fills
  std::vector<std::deque<Incoming>> queues_;   // by sender
  std::deque<bool> is_told_;                   // by member: whether its loss was reported
};

}  // namespace cohort::comm

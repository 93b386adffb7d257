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

/// What a FaultyTransport does, by seed. Each probability is per message that comes in.
struct TransportFaults {
  std::uint64_t seed = 0;
  double delay = 0;  ///< held back for 1 … delay_advances calls of advance(), and everything behind it, too
  int delay_advances = 8;
  double repeat = 0;                         ///< comes again, later
  double split = 0;                          ///< its payload comes in pieces, one per advance()
  std::optional<std::uint64_t> die_at{};     ///< when it has sent so many messages the member is gone
  std::optional<std::uint64_t> freeze_at{};  ///< when it has sent so many messages it does nothing any more
};

/// Another transport in bad weather: the order for each pair is kept, nothing is lost, but messages are late,
/// come twice, come in pieces, and the member may die or freeze. Wrap the transport of one member or of all.
///
/// Threads, Lifetime, Failure: as every Transport. A member that died sees all others as lost; one that is
/// frozen sees nothing, and only the liveness of the others finds out.
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
    std::optional<Error> loss{};  // instead of a message
    int hold = 0;                 // advances to let pass
    std::size_t num_pieces = 1;
    std::size_t next_piece = 0;
  };

  std::span<std::byte> place(int from, const FrameHeader& header) override;
  void arrived(int from, const FrameHeader& header) override;
  void taken_back(int from, const FrameHeader& header) override;
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
  std::mutex advance_mutex_;  // held by advance(); guards what follows
  bool dead_ = false;
  FrameSink* sink_ = nullptr;
  std::vector<std::vector<std::byte>> rooms_;  // by sender: what the inner transport writes to
  std::vector<std::deque<Incoming>> queues_;   // by sender
  std::deque<bool> is_told_;                   // by member: of its loss
};

}  // namespace cohort::comm

#pragma once

#include "comm/transport/transport.h"
#include "net/link.h"
#include "net/reception.h"
#include "net/station.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <vector>

namespace cohort::net {

/// A transport over TCP. A broken connection is replaced and the streams resume at the byte that the receiver
/// needs next. A member that does not reconnect in time, or whose listener is gone, is lost.
///
/// Threads: see comm::Transport.
/// Lifetime: reactor and clock must outlive it. close() waits until the other members have received what was
/// sent to them, up to TcpOptions::leave_limit.
/// Failure: lost() gives address and cause. Connections without the key of the job are closed without an
/// answer.
/// Cost: TcpOptions::num_rails connections to each member. A payload longer than OutStream::kCopied is not
/// copied in this process; its callback runs once the receiver has acknowledged it.
class TcpTransport final : public comm::Transport {
 public:
  TcpTransport(TcpFacts facts, Descriptor listener, Reactor& reactor, Clock& clock,
               const TcpOptions& options);
  ~TcpTransport() override;

  /// The initial rate limit of all connections together, see Pace. From any thread.
  void set_pace(double bytes_per_s) { station_.pace.set(bytes_per_s); }
  /// Applies to messages sent from now on. From any thread.
  void set_striping(Striping striping) {
    const std::lock_guard lock(station_.mutex);
    station_.striping = striping;
  }

  int member() const override { return station_.facts.member; }
  int num_members() const override { return static_cast<int>(links_.size()); }
  void open(comm::FrameSink& sink, comm::Doorbell& doorbell) override;
  void send(int to, const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent) override;
  void withdraw(std::uint32_t group, std::uint32_t generation) override;
  void give_up(int member, const Error& why) override;
  void close() override;
  bool advance() override;
  TimePoint wanted_at() const override;

 private:
  struct ToSelf {
    comm::FrameHeader header{};
    std::span<const std::byte> payload{};
    Sent sent{};
  };

  bool advance_all();
  Welcome judge(const Hello& hello);
  void admit(const ListenerGreeting& greeting, std::unique_ptr<Connection> connection);
  bool deliver_to_self();
  void leave();
  Link& link(std::uint32_t member) { return *links_[member]; }

  Station station_;
  std::vector<std::unique_ptr<Link>> links_;  // by member; null for this member and for those apart
  Reception reception_;
  comm::Doorbell* doorbell_ = nullptr;
  std::condition_variable advanced_;
  bool advancing_ = false;
  bool closed_ = false;
  std::deque<ToSelf> to_self_;
};

}  // namespace cohort::net

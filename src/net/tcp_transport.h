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

/// Messages over TCP. A connection that breaks is made anew, and the messages go on at the byte where they
/// were; a member that does not come back within its limit, or whose listener is gone, is lost.
///
/// Threads: as every transport.
/// Lifetime: reactor and clock must outlive it. close() waits until others have what was sent to them, up to
/// TcpOptions::leave_limit.
/// Failure: strangers are turned away without a word; lost() names the address and why.
/// Cost: TcpOptions::num_lanes connections to each member. A payload longer than OutStream::kCopied is not
/// copied in this process, and is the caller's again when the other side has all of it.
class TcpTransport final : public comm::Transport {
 public:
  TcpTransport(TcpFacts facts, Descriptor listener, Reactor& reactor, Clock& clock,
               const TcpOptions& options);
  ~TcpTransport() override;

  /// Bytes per second that all connections together are to begin with; see Pace. From any thread.
  void set_pace(double bytes_per_s) { station_.pace.set(bytes_per_s); }
  /// Of what is sent from now on. From any thread.
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
  std::vector<std::unique_ptr<Link>> links_;  // our own place is empty
  Reception reception_;
  comm::Doorbell* doorbell_ = nullptr;
  std::condition_variable advanced_;
  bool advancing_ = false;
  bool closed_ = false;
  std::deque<ToSelf> to_self_;
};

}  // namespace cohort::net

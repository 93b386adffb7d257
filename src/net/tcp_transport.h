#pragma once

#include "base/clock.h"
#include "comm/transport/transport.h"
#include "net/greeting.h"
#include "net/in_stream.h"
#include "net/job_key.h"
#include "net/out_stream.h"
#include "net/reactor.h"
#include "net/socket.h"
#include "net/tls_stream.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cohort::net {

struct TcpOptions {
  Secrecy secrecy = Secrecy::kTls;
  /// How long a member may take to come for the first time, and to come back after its connection broke.
  std::chrono::nanoseconds first_limit = std::chrono::seconds(30);
  std::chrono::nanoseconds return_limit = std::chrono::seconds(5);
  /// How long a connection may take to show that it is one of ours.
  std::chrono::nanoseconds greeting_limit = std::chrono::seconds(5);
  /// How long a member that leaves waits for others to take what it has sent.
  std::chrono::nanoseconds leave_limit = std::chrono::seconds(2);
};

/// Who takes part, and where they listen. Of two members the later one connects.
struct TcpFacts {
  int member = 0;
  std::vector<SocketAddress> addresses{};  ///< by member
  JobKey key;
};

/// Messages over TCP. A connection that breaks is made anew, and the messages go on at the byte where they
/// were; a member that does not come back within its limit, or whose listener is gone, is lost.
///
/// Threads: as every transport.
/// Lifetime: reactor and clock must outlive it.
/// Failure: strangers are turned away without a word; lost() names the address and why.
/// Cost: a payload longer than OutStream::kCopied is not copied in this process, and is the caller's again
/// when the other side has all of it.
class TcpTransport final : public comm::Transport {
 public:
  TcpTransport(TcpFacts facts, Descriptor listener, Reactor& reactor, Clock& clock,
               const TcpOptions& options);
  ~TcpTransport() override;

  int member() const override { return facts_.member; }
  int num_members() const override { return static_cast<int>(facts_.addresses.size()); }
  void open(comm::FrameSink& sink, comm::Doorbell& doorbell) override;
  void send(int to, const comm::FrameHeader& header, std::span<const std::byte> payload, Sent sent) override;
  void withdraw(std::uint32_t group, std::uint32_t generation) override;
  void give_up(int member, const Error& why) override;
  void close() override;
  bool advance() override;
  TimePoint wanted_at() const override;

 private:
  struct Connection;
  struct Peer;
  struct Guest;

  bool advance_all();
  bool accept_guests();
  bool advance_guests();
  bool advance_guest(Guest& guest);
  Welcome judge(const Hello& hello);
  void settle(Guest& guest);

  bool dial(Peer& peer);
  bool probe(Peer& peer);
  bool reach_out(Peer& peer);
  void begin_dial(Peer& peer);
  // What the other side has said of itself.
  struct Counterpart {
    std::uint64_t session = 0;
    std::uint64_t num_taken = 0;
  };
  void attach(Peer& peer, std::unique_ptr<Connection> connection, End end, const Counterpart& counterpart);
  bool prepare(Peer& peer);
  void broke(Peer& peer, const Error& why);
  bool read(Peer& peer);
  bool write(Peer& peer);
  void owe_receipt(Peer& peer);
  bool deliver_to_self();
  bool report(Peer& peer);
  bool call_back(Peer& peer);
  void lose(Peer& peer, const Error& why);
  void say_farewell(Peer& peer);
  void linger(std::unique_lock<std::mutex>& lock);
  Peer& peer(int member) const { return *peers_[static_cast<std::size_t>(member)]; }

  const TcpFacts facts_;
  const TcpOptions options_;
  Descriptor listener_;
  Reactor& reactor_;
  Clock& clock_;
  std::unique_ptr<Watch> listener_watch_;
  const std::uint64_t session_;
  comm::FrameSink* sink_ = nullptr;
  comm::Doorbell* doorbell_ = nullptr;
  std::mutex mutex_;  // guards what waits to be sent, and losses; held while bytes are written
  std::condition_variable advanced_;
  bool advancing_ = false;
  bool closed_ = false;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<std::unique_ptr<Guest>> guests_;
};

}  // namespace cohort::net

#pragma once

#include "base/clock.h"
#include "comm/transport/transport.h"
#include "net/hello.h"
#include "net/pace.h"
#include "net/reactor.h"
#include "net/socket.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

namespace cohort::net {

struct TcpOptions {
  Secrecy secrecy = Secrecy::kTls;
  /// How long a member may take to come for the first time, and to come back after its connection broke.
  std::chrono::nanoseconds first_limit = std::chrono::seconds(30);
  std::chrono::nanoseconds return_limit = std::chrono::seconds(5);
  /// Members listen before others know their addresses: where nobody listens, the member is gone. Otherwise
  /// one that has never been there may yet come.
  bool listen_first = true;
  /// How long a connection may take to show that it is one of ours.
  std::chrono::nanoseconds greeting_limit = std::chrono::seconds(5);
  /// How long a member that leaves waits for others to take what it has sent.
  std::chrono::nanoseconds leave_limit = std::chrono::seconds(2);
  /// Connections to each member that carry long payloads together, 1 … kMostLanes. All members must have the
  /// same number: others are refused.
  int num_lanes = 1;
  /// Payloads of at least so many bytes are carried by all lanes together.
  std::size_t stripe_from = std::size_t{256} << 10;
};

/// What becomes of long payloads where there are several lanes.
enum class Striping : std::uint8_t { kAllLanes, kNone };

/// A member as others see it.
struct TcpMember {
  bool is_apart = false;                   ///< we do not talk to it here
  std::vector<SocketAddress> addresses{};  ///< where it listens; of the later of two members none is needed
};

/// Who takes part, and where they listen. Of two members the later one connects.
struct TcpFacts {
  int member = 0;
  std::vector<TcpMember> members{};
  JobKey key;
};

/// What everything between one member and the others shares: who it is, and by what it works.
///
/// Lifetime: outlives its links.
struct Station {
  const TcpFacts facts;
  const TcpOptions options;
  Reactor& reactor;
  Clock& clock;
  const std::uint64_t session;  ///< of this process: another one is another
  std::mutex mutex{};           ///< guards what waits to be sent, and losses; held while bytes are written
  Striping striping = Striping::kAllLanes;  ///< with the lock held
  Pace pace{};
  comm::FrameSink* sink = nullptr;

  const std::vector<SocketAddress>& addresses_of(int member) const {
    return facts.members[static_cast<std::size_t>(member)].addresses;
  }
};

}  // namespace cohort::net

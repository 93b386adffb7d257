#pragma once

#include "base/clock.h"
#include "comm/transport/transport.h"
#include "net/hello.h"
#include "net/pace.h"
#include "net/reactor.h"
#include "net/socket.h"
#include <cohort/default_limit.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

namespace cohort::net {

struct TcpOptions {
  Secrecy secrecy = Secrecy::kTls;
  /// How long a member may take to connect for the first time, and to reconnect after its connection broke.
  std::chrono::nanoseconds first_limit = DefaultLimit::kMeeting;
  std::chrono::nanoseconds return_limit = DefaultLimit::kLink;
  /// True: members listen before others learn their addresses, so a refused connection means that the process
  /// is gone. False: a refused connection may only mean that the member has not started yet.
  bool listen_first = true;
  /// Timeout of the handshake (net/hello.h), and of the TLS handshake after it.
  std::chrono::nanoseconds greeting_limit = std::chrono::seconds(5);
  /// How long close() waits for other members to receive everything that was sent to them.
  std::chrono::nanoseconds leave_limit = std::chrono::seconds(2);
  /// Connections to each other member, 1 … kMostRails. A member with another number is refused.
  int num_rails = 1;
  /// A payload of at least this many bytes is striped over all rails.
  std::size_t stripe_from = std::size_t{256} << 10;
};

/// Whether long payloads are striped over all rails or travel on rail 0 alone.
enum class Striping : std::uint8_t { kAllRails, kNone };

/// One member of the job, as the others reach it.
struct TcpMember {
  bool is_apart = false;                   ///< reached by other means: this transport makes no link to it
  std::vector<SocketAddress> addresses{};  ///< of its listener; may be empty for members with a higher number
};

/// The members of a job and their addresses. The higher-numbered of two members connects to the other.
struct TcpFacts {
  int member = 0;
  std::vector<TcpMember> members{};
  JobKey key;
};

/// State that all links of one TcpTransport share.
///
/// Threads: members without a comment of their own are constant or belong to the thread that advances.
/// Lifetime: outlives the links.
struct Station {
  const TcpFacts facts;
  const TcpOptions options;
  Reactor& reactor;
  Clock& clock;
  const std::uint64_t session;  ///< random: tells this process from another one with the same member number
  std::mutex mutex{};           ///< guards OutStreams and Link::loss_; held while bytes are written
  Striping striping = Striping::kAllRails;  ///< guarded by the mutex
  Pace pace{};
  comm::FrameSink* sink = nullptr;

  const std::vector<SocketAddress>& addresses_of(int member) const {
    return facts.members[static_cast<std::size_t>(member)].addresses;
  }
};

}  // namespace cohort::net

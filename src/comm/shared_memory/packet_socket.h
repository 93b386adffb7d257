#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

// Unix sockets (SOCK_SEQPACKET) that carry whole packets and file descriptors. Their names are abstract, so
// nothing is left on disk. The kernel vouches for the process and user of the peer.

namespace cohort::comm {

/// Process and user of the peer, as told by the kernel.
struct PeerCredentials {
  pid_t process = 0;
  uid_t user = 0;
};

struct Packet {
  std::vector<std::byte> bytes{};
  Descriptor descriptor{};  ///< sent with the packet; closed if the packet had no descriptor
};

/// Listens at `name`. kAlreadyExists if the name is taken.
Result<Descriptor> listen_at(const std::string& name);
/// Connects to `name`; nullopt if no process listens there yet.
Result<std::optional<Descriptor>> try_connect(const std::string& name);
/// Accepts the next connection; kTimedOut at `deadline`.
Result<Descriptor> accept_by(const Descriptor& listener, TimePoint deadline);

Result<PeerCredentials> credentials_of(const Descriptor& socket);

/// Sends one packet, together with `descriptor` if that is open.
Status send_packet(const Descriptor& socket, std::span<const std::byte> bytes, const Descriptor& descriptor);
/// Receives the next packet; nullopt if the peer has closed the socket. kTimedOut at `deadline`, kCorrupt for
/// a packet longer than `cap_bytes`.
Result<std::optional<Packet>> receive_packet(const Descriptor& socket, std::size_t cap_bytes,
                                             TimePoint deadline);

/// Waits until the descriptor can be read; false at `deadline`.
Result<bool> wait_readable(const Descriptor& descriptor, TimePoint deadline);

}  // namespace cohort::comm

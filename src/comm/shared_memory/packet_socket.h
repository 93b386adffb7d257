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

// Unix sockets of this host that carry whole packets and descriptors. Their names live in the kernel only:
// nothing is left on disk. The kernel tells who is at the other end.

namespace cohort::comm {

/// Who is at the other end, by the kernel's word.
struct PeerCredentials {
  pid_t process = 0;
  uid_t user = 0;
};

struct Packet {
  std::vector<std::byte> bytes{};
  Descriptor descriptor{};  ///< one that came along, or closed
};

/// Opens `name` for others to connect to. kAlreadyExists if somebody else has it.
Result<Descriptor> listen_at(const std::string& name);
/// Connects, or returns nothing if nobody listens there (yet).
Result<std::optional<Descriptor>> try_connect(const std::string& name);
/// The next connection; kTimedOut at `deadline`.
Result<Descriptor> accept_by(const Descriptor& listener, TimePoint deadline);

Result<PeerCredentials> credentials_of(const Descriptor& socket);

/// Sends one packet, with a descriptor if `descriptor` is open.
Status send_packet(const Descriptor& socket, std::span<const std::byte> bytes, const Descriptor& descriptor);
/// The next packet; nothing if the other end is gone. kTimedOut at `deadline`. What is longer than
/// `cap_bytes` is kCorrupt.
Result<std::optional<Packet>> receive_packet(const Descriptor& socket, std::size_t cap_bytes,
                                             TimePoint deadline);

/// Waits until the descriptor can be read; false at `deadline`.
Result<bool> wait_readable(const Descriptor& descriptor, TimePoint deadline);

}  // namespace cohort::comm

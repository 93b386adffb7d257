#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

namespace cohort::net {

/// A numeric address and a port, of either family: `127.0.0.1:4711`, `[fe80::1%eth0]:4711`.
///
/// Threads: a value.
class SocketAddress {
 public:
  /// kUsage for what is not such a pair. Names of hosts are not looked up.
  static Result<SocketAddress> parse(std::string_view text);
  static SocketAddress of(const sockaddr* address, socklen_t length);

  std::string text() const;
  std::uint16_t port() const;
  SocketAddress with_port(std::uint16_t port) const;
  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

/// A socket that listens there; port 0: any that is free. kAlreadyExists if the port is taken.
Result<Descriptor> listen_at(const SocketAddress& address);
/// A socket that listens at any of these addresses of ours, all with the same free port: at one only where
/// there is one, else at all that this host has.
Result<Descriptor> listen_for(const std::vector<SocketAddress>& addresses, std::uint16_t port = 0);
/// The addresses of a host by its name, or of what is an address already, at this port.
Result<std::vector<SocketAddress>> look_up(const std::string& host, std::uint16_t port);
Result<SocketAddress> local_address(const Descriptor& socket);
/// The next connection, ready for messages; a closed descriptor if there is none now.
Result<Descriptor> accept_one(const Descriptor& listener);
/// Begins to connect, without waiting.
Result<Descriptor> begin_connect(const SocketAddress& address);
/// Whether everything that was written has reached the other side's kernel.
bool has_arrived(const Descriptor& socket);
/// What came of it, once the socket can be written.
Status connect_outcome(const Descriptor& socket, const SocketAddress& address);

}  // namespace cohort::net

#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

namespace cohort::net {

/// A numeric IPv4 or IPv6 address and a port: `127.0.0.1:4711`, `[fe80::1%eth0]:4711`.
///
/// Threads: a value.
class SocketAddress {
 public:
  /// kUsage for any other text. Host names are not resolved.
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

/// A listening socket; port 0 means any free port. kAlreadyExists if the port is taken.
Result<Descriptor> listen_at(const SocketAddress& address);
/// A socket that listens on the given address if there is exactly one, else on all addresses of this host;
/// port 0 means any free port.
Result<Descriptor> listen_for(const std::vector<SocketAddress>& addresses, std::uint16_t port = 0);
/// Resolves a host name or a numeric address; the results have this port. kNotFound for an unknown name.
Result<std::vector<SocketAddress>> look_up(const std::string& host, std::uint16_t port);
Result<SocketAddress> local_address(const Descriptor& socket);
/// The next waiting connection, non-blocking and with its options set; a closed descriptor if none waits.
Result<Descriptor> accept_one(const Descriptor& listener);
/// Starts a non-blocking connect.
Result<Descriptor> begin_connect(const SocketAddress& address);
/// Whether the peer's kernel has acknowledged everything that was written.
bool has_arrived(const Descriptor& socket);
/// The result of begin_connect(), once the socket is writable.
Status connect_outcome(const Descriptor& socket, const SocketAddress& address);

}  // namespace cohort::net

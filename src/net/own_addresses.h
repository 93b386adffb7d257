#pragma once

#include "base/result.h"
#include "net/socket.h"

#include <string>
#include <vector>

namespace cohort::net {

/// An address of this host and its network interface.
struct OwnAddress {
  std::string interface {};
  SocketAddress address{};  ///< port 0
  std::string subnet{};     ///< `10.0.0.0/24`
  bool is_loopback = false;
  bool is_link_local = false;
};

/// The addresses of all interfaces that are up.
Result<std::vector<OwnAddress>> own_addresses();

/// The addresses that other hosts should connect to: those of the named interfaces, or, if no interface is
/// named, of all but loopback. The first address of each interface comes first, IPv4 before IPv6, then the
/// second of each, so that rails which take the addresses in turn use all cables. Link-local addresses are
/// included only if their interface is named; loopback only on a host without other interfaces.
/// Failure: kUsage, with a list of the interfaces, if a named interface is down or has no address.
Result<std::vector<SocketAddress>> published_addresses(const std::vector<OwnAddress>& own,
                                                       const std::vector<std::string>& interfaces);
/// The subnet of an own address, whatever its port; empty for an address of another host.
std::string subnet_of(const std::vector<OwnAddress>& own, const SocketAddress& address);

}  // namespace cohort::net

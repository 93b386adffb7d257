#pragma once

#include "base/result.h"
#include "net/socket.h"

#include <string>
#include <vector>

namespace cohort::net {

/// An address of this host, and the interface that has it.
struct OwnAddress {
  std::string interface {};
  SocketAddress address{};  ///< port 0
  std::string subnet{};     ///< that it is in: `10.0.0.0/24`
  bool is_loopback = false;
  bool is_link_local = false;
};

/// Those of all interfaces that are up.
Result<std::vector<OwnAddress>> own_addresses();

/// Those by which others are told to reach us: of the interfaces that were named, or of all but loopback;
/// one of each interface, its IPv4 one before that of IPv6, then the next of each, so that lanes which take
/// them in turn take all cables. Link-local ones only where their interface was named. Where a host has
/// nothing but loopback, that.
/// Failure: kUsage, naming those that there are, if a named one has no address.
Result<std::vector<SocketAddress>> published_addresses(const std::vector<OwnAddress>& own,
                                                       const std::vector<std::string>& interfaces);
/// The subnet of one of them, whatever its port; empty if there is no such address.
std::string subnet_of(const std::vector<OwnAddress>& own, const SocketAddress& address);

}  // namespace cohort::net

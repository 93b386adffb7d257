#include "net/own_addresses.h"

#include "base/system_error.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <map>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <set>
#include <span>

namespace cohort::net {
namespace {

bool is_link_local(const sockaddr* address) {
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

std::span<std::byte> number_of(sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET) {
    return std::as_writable_bytes(std::span(&reinterpret_cast<sockaddr_in&>(storage).sin_addr, 1));
  }
  return std::as_writable_bytes(std::span(&reinterpret_cast<sockaddr_in6&>(storage).sin6_addr, 1));
}

// The network part of an address, and its length in bits.
std::string subnet_text(const sockaddr* address, const sockaddr* mask, socklen_t size) {
  if (mask == nullptr) return "";
  sockaddr_storage subnet{}, kept{};
  std::memcpy(&subnet, address, size);
  std::memcpy(&kept, mask, size);
  kept.ss_family = subnet.ss_family;
  const std::span<std::byte> bytes = number_of(subnet), bits = number_of(kept);
  int num_bits = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] &= bits[i];
    num_bits += std::popcount(std::to_integer<unsigned>(bits[i]));
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(subnet.ss_family, bytes.data(), text.data(), text.size());
  return fmt::format("{}/{}", text.data(), num_bits);
}

Error no_such_interface(const std::vector<OwnAddress>& own, const std::string& wanted) {
  std::set<std::string> names;
  for (const OwnAddress& each : own) names.insert(each.interface);
  return Error(ErrorCode::kUsage, fmt::format("the interface '{}' is not up or has no address", wanted))
      .with_remedy(fmt::format("Use one of {}.", fmt::join(names, ", ")));
}

// The first address of each interface, then the second of each: neighbours in the list use different cables.
std::vector<SocketAddress> in_turn(const std::vector<OwnAddress>& chosen) {
  std::map<std::string, std::size_t> num_seen;
  std::vector<std::pair<std::size_t, SocketAddress>> turns;
  for (const OwnAddress& each : chosen) turns.emplace_back(num_seen[each.interface]++, each.address);
  std::stable_sort(turns.begin(), turns.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<SocketAddress> addresses;
  for (const auto& [turn, address] : turns) addresses.push_back(address);
  return addresses;
}

}  // namespace

Result<std::vector<OwnAddress>> own_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return system_error("cannot list the network interfaces of this host", errno);
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  std::vector<OwnAddress> found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    found.push_back({.interface = each->ifa_name,
                     .address = SocketAddress::of(each->ifa_addr, size),
                     .subnet = subnet_text(each->ifa_addr, each->ifa_netmask, size),
                     .is_loopback = (each->ifa_flags & IFF_LOOPBACK) != 0,
                     .is_link_local = is_link_local(each->ifa_addr)});
  }
  std::stable_sort(found.begin(), found.end(), [](const OwnAddress& a, const OwnAddress& b) {
    return a.address.family() == AF_INET && b.address.family() != AF_INET;
  });
  return found;
}

Result<std::vector<SocketAddress>> published_addresses(const std::vector<OwnAddress>& own,
                                                       const std::vector<std::string>& interfaces) {
  std::vector<OwnAddress> chosen;
  for (const std::string& wanted : interfaces) {
    const std::size_t before = chosen.size();
    for (const OwnAddress& each : own) {
      if (each.interface == wanted) chosen.push_back(each);
    }
    if (chosen.size() == before) return no_such_interface(own, wanted);
  }
  if (!interfaces.empty()) return in_turn(chosen);
  for (const bool loopback : {false, true}) {
    for (const OwnAddress& each : own) {
      if (each.is_loopback == loopback && !each.is_link_local) chosen.push_back(each);
    }
    if (!chosen.empty()) return in_turn(chosen);
  }
  return Error(ErrorCode::kUnsupported, "no interface of this host is up")
      .with_remedy("Bring an interface up, if only the loopback: `ip link set lo up`.");
}

std::string subnet_of(const std::vector<OwnAddress>& own, const SocketAddress& address) {
  const std::string text = address.with_port(0).text();
  const auto found = std::find_if(own.begin(), own.end(),
                                  [&](const OwnAddress& each) { return each.address.text() == text; });
  return found == own.end() ? "" : found->subnet;
}

}  // namespace cohort::net

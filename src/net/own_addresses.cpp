#include "net/own_addresses.h"

#include "base/system_error.h"

#include <algorithm>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <map>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <set>

namespace cohort::net {
namespace {

bool is_link_local(const sockaddr* address) {
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

Error no_such_interface(const std::vector<OwnAddress>& own, const std::string& wanted) {
  std::set<std::string> names;
  for (const OwnAddress& each : own) names.insert(each.interface);
  return Error(ErrorCode::kUsage, fmt::format("the interface '{}' is not up or has no address", wanted))
      .with_remedy(fmt::format("Name one of {}.", fmt::join(names, ", ")));
}

// The first of each interface, then the second of each: members beside each other lead by different cables.
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
  if (::getifaddrs(&list) != 0) return system_error("the interfaces of this host are not known", errno);
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  std::vector<OwnAddress> found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    found.push_back({.interface = each->ifa_name,
                     .address = SocketAddress::of(each->ifa_addr, size),
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
      .with_remedy("Bring one up, even the loopback: `ip link set lo up`.");
}

}  // namespace cohort::net

#include "machine/survey_parts.h"

#include "machine/kernel_text.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <ifaddrs.h>
#include <limits>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <system_error>

namespace cohort::machine {
namespace {

std::string written(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(family, address, text.data(), text.size()) == nullptr ? "" : text.data();
}

void add_address(Interface& interface, const sockaddr* address) {
  if (address == nullptr) return;
  if (address->sa_family == AF_INET) {
    const auto* inet = reinterpret_cast<const sockaddr_in*>(address);
    interface.ipv4.push_back(written(AF_INET, &inet->sin_addr));
  } else if (address->sa_family == AF_INET6) {
    const auto* inet = reinterpret_cast<const sockaddr_in6*>(address);
    interface.ipv6.push_back(written(AF_INET6, &inet->sin6_addr));
  }
}

// Empty if the file is missing or contains -1, as it does for interfaces to which the number does not apply.
std::optional<int> number_in(const ReadText& read, const std::string& path) {
  const Result<std::uint64_t> number = parsed(read, path, parse_count);
  if (!number || *number > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

std::vector<Interface> interfaces_in(const ifaddrs* list) {
  std::vector<Interface> interfaces;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    auto found = std::find_if(interfaces.begin(), interfaces.end(),
                              [&](const Interface& known) { return known.name == entry->ifa_name; });
    if (found == interfaces.end()) {
      constexpr unsigned kUp = IFF_UP | IFF_RUNNING;
      Interface interface;
      interface.name = entry->ifa_name;
      interface.up = (entry->ifa_flags & kUp) == kUp;
      interface.loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
      found = interfaces.insert(interfaces.end(), std::move(interface));
    }
    add_address(*found, entry->ifa_addr);
  }
  return interfaces;
}

Fact<std::vector<Interface>> survey_network(const ReadText& read) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return Error(ErrorCode::kIo,
                 "cannot list the network interfaces: " + std::generic_category().message(errno));
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<Interface> interfaces = interfaces_in(list);
  for (Interface& interface : interfaces) {
    interface.mtu_bytes = number_in(read, "/sys/class/net/" + interface.name + "/mtu");
    interface.speed_mbit = number_in(read, "/sys/class/net/" + interface.name + "/speed");
  }
  return interfaces;
}

}  // namespace cohort::machine

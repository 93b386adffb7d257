#pragma once

#include "machine/sources.h"

#include <optional>
#include <string>
#include <vector>

struct ifaddrs;

namespace cohort::machine {

/// A network interface.
struct Interface {
  std::string name{};
  bool up = false;  ///< switched on, with a carrier
  bool loopback = false;
  std::vector<std::string> ipv4{};
  std::vector<std::string> ipv6{};
  std::optional<int> mtu_bytes{};
  std::optional<int> speed_mbit{};  ///< Mbit per second; empty for virtual interfaces
};

/// The interfaces of a list by getifaddrs, each once, in the order of the list; without MTU and speed.
std::vector<Interface> interfaces_in(const ifaddrs* list);

Fact<std::vector<Interface>> survey_network(const ReadText& read);

}  // namespace cohort::machine

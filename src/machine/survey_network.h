#pragma once

#include "machine/fact.h"
#include "machine/sources.h"

#include <optional>
#include <string>
#include <vector>

struct ifaddrs;

namespace cohort::machine {

/// A way into a network.
struct Interface {
  std::string name{};
  bool up = false;  ///< switched on, and the other side of the cable is there
  bool loopback = false;
  std::vector<std::string> ipv4{};
  std::vector<std::string> ipv6{};
  std::optional<int> mtu_bytes{};
  std::optional<int> speed_mbit{};  ///< per second; virtual interfaces have none
};

/// The interfaces of a list by getifaddrs, each once, in the order of the list; without mtu and speed.
std::vector<Interface> interfaces_in(const ifaddrs* list);

Fact<std::vector<Interface>> survey_network(const ReadText& read);

}  // namespace cohort::machine

#include "machine/rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::machine {
namespace {

std::string address_of(const Interface& interface) {
  if (!interface.ipv4.empty()) return interface.ipv4.front();
  return interface.ipv6.empty() ? "" : interface.ipv6.front();
}

bool reaches_others(const Interface& interface) {
  return interface.up && !interface.loopback && !address_of(interface).empty();
}

std::string names_of(const std::vector<Interface>& interfaces) {
  std::vector<std::string> names;
  for (const Interface& interface : interfaces) {
    names.push_back(interface.name + (interface.up ? "" : " (down)"));
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

void judge_interface(const std::vector<Interface>& interfaces, const std::string& wished,
                     Findings& findings) {
  const auto found = std::find_if(interfaces.begin(), interfaces.end(),
                                  [&](const Interface& interface) { return interface.name == wished; });
  if (found == interfaces.end()) {
    return findings.problem(
        "interface", fmt::format("'{}' is not there; there are: {}", wished, names_of(interfaces)),
        fmt::format("Name one of those that this machine has: {}.", names_of(interfaces)));
  }
  if (!found->up) {
    return findings.problem(
        "interface", fmt::format("'{}' is down; there are: {}", wished, names_of(interfaces)),
        fmt::format("Bring it up (ip link set {} up), look at its cable, or name another one: {}.", wished,
                    names_of(interfaces)));
  }
  findings.fine("interface", fmt::format("'{}' is up {}", wished, address_of(*found)));
}

}  // namespace

void judge_network(const Survey& survey, const Wishes&, Findings& findings) {
  const auto& interfaces = survey.interfaces;
  if (!interfaces) return findings.unknown("network", interfaces.error());
  std::vector<std::string> ways;
  for (const Interface& interface : *interfaces) {
    if (reaches_others(interface)) {
      ways.push_back(fmt::format("{} {}", interface.name, address_of(interface)));
    }
  }
  if (ways.empty()) {
    return findings.note("network", "only the loopback interface: jobs on this host alone",
                         "Nothing to do for one host; for several, bring up an interface with an address.");
  }
  findings.fine("network", fmt::format("{}", fmt::join(ways, ", ")));
}

void judge_interfaces(const Survey& survey, const Wishes& wishes, Findings& findings) {
  for (const std::string& wished : wishes.interfaces) {
    if (!survey.interfaces) {
      findings.unknown("interface", survey.interfaces.error());
    } else {
      judge_interface(*survey.interfaces, wished, findings);
    }
  }
}

}  // namespace cohort::machine

#include "machine/checks.h"

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

void judge_interface(const std::vector<Interface>& interfaces, const std::string& required,
                     Findings& findings) {
  const auto found = std::find_if(interfaces.begin(), interfaces.end(),
                                  [&](const Interface& interface) { return interface.name == required; });
  if (found == interfaces.end()) {
    return findings.problem(
        "interface",
        fmt::format("'{}' does not exist; the interfaces are: {}", required, names_of(interfaces)),
        fmt::format("Name an interface of this machine: {}.", names_of(interfaces)));
  }
  if (!found->up) {
    return findings.problem(
        "interface", fmt::format("'{}' is down; the interfaces are: {}", required, names_of(interfaces)),
        fmt::format("Bring it up (ip link set {} up), check its cable, or name another interface: {}.",
                    required, names_of(interfaces)));
  }
  findings.fine("interface", fmt::format("'{}' is up {}", required, address_of(*found)));
}

}  // namespace

void judge_network(const Survey& survey, const JobNeeds&, Findings& findings) {
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

void judge_interfaces(const Survey& survey, const JobNeeds& needs, Findings& findings) {
  for (const std::string& required : needs.interfaces) {
    if (!survey.interfaces) {
      findings.unknown("interface", survey.interfaces.error());
    } else {
      judge_interface(*survey.interfaces, required, findings);
    }
  }
}

}  // namespace cohort::machine

#include "comm/conformance/kind.h"
#include "comm/conformance/scheduled_kind.h"
#include "comm/conformance/shared_memory_kind.h"

namespace cohort::test {

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds{shared_memory_kind("shared_memory", InArena::kNobodys),
                          shared_memory_kind("shared_memory_arena", InArena::kEverybodys),
                          shared_memory_kind("shared_memory_mixed", InArena::kThoseOfOddRanks)};
  for (const NetworkKind& network : network_kinds()) kinds.push_back(scheduled_kind(network));
  const NetworkKind loopback = {"loopback", loopback_network};
  kinds.push_back(scheduled_kind(loopback, "ring"));
  kinds.push_back(scheduled_kind(loopback, "halving_doubling"));
  const NetworkKind hosts = {"hosts_of_two",
                             [](int n) { return joined_network(hosts_of_two(n), net::Secrecy::kTls); }};
  kinds.push_back(scheduled_kind(hosts, "hierarchical"));
  return kinds;
}

}  // namespace cohort::test

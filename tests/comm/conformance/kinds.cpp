#include "comm/conformance/kind.h"
#include "comm/conformance/scheduled_kind.h"
#include "comm/conformance/shared_memory_kind.h"

namespace cohort::test {
namespace {

// Under a sanitizer kinds that differ from another by what it does not see, or by numbers, show nothing more.
bool shows_something(const std::string& network) {
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
  if (network == "tls" || network == "hosts_in_turn" || network == "simulated_lossy") return false;
#endif
  return network != "hosts_of_two";  // below, with the algorithm that knows hosts
}

}  // namespace

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds{shared_memory_kind("shared_memory", InArena::kNobodys),
                          shared_memory_kind("shared_memory_arena", InArena::kEverybodys),
                          shared_memory_kind("shared_memory_mixed", InArena::kThoseOfOddRanks)};
  for (const NetworkKind& network : network_kinds()) {
    if (shows_something(network.name)) kinds.push_back(scheduled_kind(network));
  }
  const NetworkKind loopback = {"loopback", loopback_network};
  kinds.push_back(scheduled_kind(loopback, "ring"));
  kinds.push_back(scheduled_kind(loopback, "halving_doubling"));
  const NetworkKind hosts = {"hosts_of_two",
                             [](int n) { return joined_network(hosts_of_two(n), net::Secrecy::kTls); }};
  kinds.push_back(scheduled_kind(hosts, "hierarchical"));
  return kinds;
}

}  // namespace cohort::test

#include "comm/conformance/kind.h"
#include "comm/conformance/scheduled_kind.h"
#include "comm/conformance/shared_memory_kind.h"

#include <set>

namespace cohort::test {
namespace {

#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// Under a sanitizer one kind of each sort of code is enough: others differ by numbers, or by what it does not
// see.
bool shows_something(const Kind& kind) {
  static const std::set<std::string> kinds = {"shared_memory_mixed", "faulty", "shared_memory_rings",
                                              "tcp_lanes", "hosts_of_two_hierarchical"};
  return !kIsSanitized || kinds.contains(kind.name);
}

}  // namespace

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds{shared_memory_kind("shared_memory", InArena::kNobodys),
                          shared_memory_kind("shared_memory_arena", InArena::kEverybodys),
                          shared_memory_kind("shared_memory_mixed", InArena::kThoseOfOddRanks)};
  for (const NetworkKind& network : network_kinds()) {
    const bool knows_hosts = network.name == "hosts_of_two";
    kinds.push_back(scheduled_kind(network, knows_hosts ? "hierarchical" : ""));
  }
  const NetworkKind loopback = {"loopback", loopback_network};
  kinds.push_back(scheduled_kind(loopback, "ring"));
  kinds.push_back(scheduled_kind(loopback, "halving_doubling"));
  kinds.push_back(
      scheduled_kind(loopback, PlanFacts{.name = "f16", .plan = {.wire = comm::WireDType::kFloat16}}));
  kinds.push_back(scheduled_kind(
      loopback,
      PlanFacts{.name = "bf16", .plan = {.chunk_bytes = 4096, .wire = comm::WireDType::kBFloat16}}));
  std::erase_if(kinds, [](const Kind& kind) { return !shows_something(kind); });
  return kinds;
}

}  // namespace cohort::test

#include "comm/conformance/kind.h"
#include "comm/conformance/message_passing_kind.h"
#include "comm/conformance/shared_memory_kind.h"

#include <set>

namespace cohort::test {
namespace {

#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// Under a sanitizer one kind for each implementation is enough: the others differ in numbers, or in code that
// the sanitizer does not see.
bool shows_something(const Kind& kind) {
  static const std::set<std::string> kinds = {"shared_memory_mixed", "faulty", "shared_memory_rings",
                                              "tcp_rails", "hosts_of_two_hierarchical"};
  return !kIsSanitized || kinds.contains(kind.name);
}

// One kind for each implementation that combines numbers; the others differ in the transport of bytes.
Types types_of(const Kind& kind) {
  static const std::set<std::string> kinds = {"shared_memory", "shared_memory_arena", "loopback"};
  return is_soak() || kinds.contains(kind.name) ? Types::kAll : Types::kOneOfEachSort;
}

}  // namespace

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds{shared_memory_kind("shared_memory", InArena::kNobodys),
                          shared_memory_kind("shared_memory_arena", InArena::kEverybodys),
                          shared_memory_kind("shared_memory_mixed", InArena::kThoseOfOddRanks)};
  for (const NetworkKind& network : network_kinds()) {
    const bool knows_hosts = network.name == "hosts_of_two";
    kinds.push_back(knows_hosts ? message_passing_kind(network, CollectiveAlgorithm::kHierarchical)
                                : message_passing_kind(network));
  }
  const std::size_t num_networks = kinds.size();
  const NetworkKind loopback = {"loopback", loopback_network};
  kinds.push_back(message_passing_kind(loopback, CollectiveAlgorithm::kRing));
  kinds.push_back(message_passing_kind(loopback, CollectiveAlgorithm::kHalvingDoubling));
  kinds.push_back(
      message_passing_kind(loopback, PlanFacts{.name = "f16", .plan = {.wire = WireDType::kFloat16}}));
  kinds.push_back(message_passing_kind(
      loopback, PlanFacts{.name = "bf16", .plan = {.chunk_bytes = 4096, .wire = WireDType::kBFloat16}}));
  for (std::size_t i = num_networks; i < kinds.size(); ++i) kinds[i].differs_in_collectives_only = true;
  std::erase_if(kinds, [](const Kind& kind) { return !shows_something(kind); });
  for (Kind& kind : kinds) kind.types = types_of(kind);
  return kinds;
}

}  // namespace cohort::test

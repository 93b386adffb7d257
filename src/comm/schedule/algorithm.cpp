#include "comm/schedule/algorithm.h"

#include "base/check.h"
#include "comm/schedule/direct.h"
#include "comm/schedule/dissemination.h"
#include "comm/schedule/doubling.h"
#include "comm/schedule/halving_doubling.h"
#include "comm/schedule/hierarchical.h"
#include "comm/schedule/ring.h"
#include "comm/schedule/star.h"
#include "comm/schedule/tree.h"

#include <algorithm>

namespace cohort::comm {
namespace {

using enum Operation;

bool always(const CallFacts&) {
  return true;
}

// In the order of the enumerators.
std::vector<Algorithm> make_table() {
  return {
      {.id = CollectiveAlgorithm::kDirect,
       .summary = "every rank sends to every other rank at once",
       .operations = {kAllToAll, kAllGather, kReduceScatter, kAllReduce},
       .applies = always,
       .make = direct_schedule,
       .effort = direct_effort},
      {.id = CollectiveAlgorithm::kHalvingDoubling,
       .summary = "pairs of ranks halve the data, then double it back (butterfly)",
       .operations = {kAllReduce},
       .applies = always,
       .make = halving_doubling_schedule,
       .effort = halving_doubling_effort},
      {.id = CollectiveAlgorithm::kDoubling,
       .summary = "the number of parts sent doubles each round, for any number of ranks",
       .operations = {kAllReduce, kReduceScatter, kAllGather},
       .applies = always,
       .make = doubling_schedule,
       .effort = doubling_effort},
      {.id = CollectiveAlgorithm::kSplit,
       .summary = "direct reduce_scatter of even parts, then direct all_gather",
       .operations = {kAllReduce},
       .applies = always,
       .make = split_schedule,
       .effort = split_effort},
      {.id = CollectiveAlgorithm::kRing,
       .summary = "each rank sends segments to the next rank",
       .operations = {kAllReduce, kReduceScatter, kAllGather},
       .applies = always,
       .make = ring_schedule,
       .effort = ring_effort},
      {.id = CollectiveAlgorithm::kTree,
       .summary = "a binomial tree from the root",
       .operations = {kBroadcast, kReduce, kGather, kScatter},
       .applies = always,
       .make = tree_schedule,
       .effort = tree_effort},
      {.id = CollectiveAlgorithm::kStar,
       .summary = "the root exchanges messages with every rank",
       .operations = {kBroadcast, kReduce, kGather, kScatter, kBarrier},
       .applies = always,
       .make = star_schedule,
       .effort = star_effort},
      {.id = CollectiveAlgorithm::kDissemination,
       .summary = "every round signals the rank twice as far away",
       .operations = {kBarrier},
       .applies = always,
       .make = dissemination_schedule,
       .effort = dissemination_effort},
      {.id = CollectiveAlgorithm::kHierarchical,
       .summary = "inside each host first, then between hosts",
       .operations = {kAllReduce, kReduceScatter, kBroadcast, kAllGather, kBarrier},
       .host_awareness = HostAwareness::kAware,
       .applies = has_hierarchy,
       .make = hierarchical_schedule,
       .effort = hierarchical_effort},
  };
}

bool needs_parts(Operation operation) {
  return operation == kReduceScatter || operation == kAllGather || operation == kGather ||
         operation == kScatter || operation == kAllToAll;
}

}  // namespace

std::span<const Algorithm> all_algorithms() {
  static const std::vector<Algorithm> table = make_table();
  return table;
}

const Algorithm& algorithm_of(CollectiveAlgorithm id) {
  return all_algorithms()[static_cast<std::size_t>(id)];
}

bool serves(const Algorithm& algorithm, const CallFacts& facts) {
  const auto& operations = algorithm.operations;
  return std::find(operations.begin(), operations.end(), facts.operation) != operations.end() &&
         algorithm.applies(facts);
}

Schedule plan_call(const Algorithm& algorithm, const CallFacts& facts) {
  COHORT_CHECK(serves(algorithm, facts), "algorithm {} cannot run {}", algorithm.name(),
               name(facts.operation));
  COHORT_CHECK(facts.rank >= 0 && facts.rank < facts.world, "rank {}, expected 0 to {} - 1", facts.rank,
               facts.world);
  const auto ranks = static_cast<std::size_t>(facts.world);
  if (needs_parts(facts.operation)) COHORT_CHECK_EQ(facts.parts.size(), ranks);
  if (facts.operation == kAllToAll) COHORT_CHECK_EQ(facts.arriving.size(), ranks);
  return algorithm.make(facts);
}

}  // namespace cohort::comm

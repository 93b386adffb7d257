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

std::vector<Algorithm> make_table() {
  return {
      {.name = "direct",
       .summary = "everybody sends to everybody at once",
       .operations = {kAllToAll, kAllGather, kReduceScatter, kAllReduce},
       .applies = always,
       .make = direct_schedule,
       .effort = direct_effort},
      {.name = "halving_doubling",
       .summary = "pairs halve their work, then double it back",
       .operations = {kAllReduce},
       .applies = always,
       .make = halving_doubling_schedule,
       .effort = halving_doubling_effort},
      {.name = "doubling",
       .summary = "parts double round the circle, and back",
       .operations = {kAllReduce, kReduceScatter, kAllGather},
       .applies = always,
       .make = doubling_schedule,
       .effort = doubling_effort},
      {.name = "split",
       .summary = "direct exchange of even parts, there and back",
       .operations = {kAllReduce},
       .applies = always,
       .make = split_schedule,
       .effort = split_effort},
      {.name = "ring",
       .summary = "segments travel from each rank to the next",
       .operations = {kAllReduce, kReduceScatter, kAllGather},
       .applies = always,
       .make = ring_schedule,
       .effort = ring_effort},
      {.name = "tree",
       .summary = "a binomial tree from the root",
       .operations = {kBroadcast, kReduce, kGather, kScatter},
       .applies = always,
       .make = tree_schedule,
       .effort = tree_effort},
      {.name = "star",
       .summary = "the root talks to every rank",
       .operations = {kBroadcast, kReduce, kGather, kScatter, kBarrier},
       .applies = always,
       .make = star_schedule,
       .effort = star_effort},
      {.name = "dissemination",
       .summary = "the word spreads twice as far in every round",
       .operations = {kBarrier},
       .applies = always,
       .make = dissemination_schedule,
       .effort = dissemination_effort},
      {.name = "hierarchical",
       .summary = "inside hosts first, between hosts only what must cross",
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

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.name == name) return &algorithm;
  }
  return nullptr;
}

bool serves(const Algorithm& algorithm, const CallFacts& facts) {
  const auto& operations = algorithm.operations;
  return std::find(operations.begin(), operations.end(), facts.operation) != operations.end() &&
         algorithm.applies(facts);
}

Schedule plan_call(const Algorithm& algorithm, const CallFacts& facts) {
  COHORT_CHECK(serves(algorithm, facts), "{} does not serve {}", algorithm.name, name(facts.operation));
  COHORT_CHECK(facts.rank >= 0 && facts.rank < facts.world, "rank {} of {}", facts.rank, facts.world);
  const auto ranks = static_cast<std::size_t>(facts.world);
  if (needs_parts(facts.operation)) COHORT_CHECK_EQ(facts.parts.size(), ranks);
  if (facts.operation == kAllToAll) COHORT_CHECK_EQ(facts.arriving.size(), ranks);
  return algorithm.make(facts);
}

}  // namespace cohort::comm

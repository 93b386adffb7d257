#include "comm/schedule/hierarchical.h"
#include "symbolic_case.h"

#include <algorithm>
#include <map>

namespace cohort::comm {
namespace {

TEST(Hierarchical, SumsInTheDocumentedOrder) {
  const Algorithm& hierarchical = algorithm_of(CollectiveAlgorithm::kHierarchical);
  for (const Operation operation : hierarchical.operations) {
    for (int world = 1; world <= kWorlds && !stop(); ++world) {
      for (const auto& hosts : host_maps(world)) {
        for_awkward_facts(operation, world, [&](CallFacts facts) {
          facts.hosts = hosts;
          if (facts.count > 200 || stop() || !serves(hierarchical, facts)) return;
          expect_right({.algorithm = hierarchical, .facts = facts});
          facts.chunk_length = 4;
          if (world <= 8) expect_right({.algorithm = hierarchical, .facts = facts});
        });
      }
    }
  }
}

struct Crossing {
  std::size_t near = 0;  // the most that one rank moves inside its host
  std::size_t far = 0;   // the most that one rank moves between hosts
  std::size_t far_total = 0;
  std::size_t far_of_host = 0;  // the most that one host sends
};

Crossing count_crossing(const CallFacts& base) {
  Crossing crossing;
  std::map<int, std::size_t> of_host;
  for (int rank = 0; rank < base.world; ++rank) {
    CallFacts facts = base;
    facts.rank = rank;
    std::map<std::pair<StepKind, bool>, std::size_t> moved;
    for (const Step& step : plan_call(algorithm_of(CollectiveAlgorithm::kHierarchical), facts).steps) {
      if (step.kind == StepKind::kCopy || step.kind == StepKind::kCombine) continue;
      const bool crosses = base.hosts[at(rank)] != base.hosts[at(step.peer)];
      moved[{step.kind, crosses}] += step.kind == StepKind::kSend ? step.from.count : step.to.count;
    }
    crossing.near =
        std::max({crossing.near, moved[{StepKind::kSend, false}], moved[{StepKind::kReceive, false}]});
    crossing.far =
        std::max({crossing.far, moved[{StepKind::kSend, true}], moved[{StepKind::kReceive, true}]});
    crossing.far_total += moved[{StepKind::kSend, true}];
    of_host[base.hosts[at(rank)]] += moved[{StepKind::kSend, true}];
  }
  for (const auto& host : of_host) crossing.far_of_host = std::max(crossing.far_of_host, host.second);
  return crossing;
}

TEST(Hierarchical, SendsTheLeastBytesBetweenHosts) {
  for (const std::size_t hosts : {2u, 3u, 4u, 5u, 8u}) {
    for (const std::size_t ranks : {2u, 3u, 4u}) {
      const std::size_t count = hosts * ranks * 7;
      CallFacts facts{
          .operation = Operation::kAllReduce, .world = static_cast<int>(hosts * ranks), .count = count};
      for (std::size_t rank = 0; rank < hosts * ranks; ++rank)
        facts.hosts.push_back(static_cast<int>(rank / ranks));
      const Crossing reduced = count_crossing(facts);
      EXPECT_EQ(reduced.far_of_host, 2 * (hosts - 1) * count / hosts);
      EXPECT_EQ(reduced.far_total, 2 * (hosts - 1) * count);
      const Effort effort = hierarchical_effort(facts);
      EXPECT_EQ(effort.far_moved, reduced.far);
      EXPECT_EQ(effort.moved, reduced.near);

      facts.operation = Operation::kBroadcast;
      EXPECT_EQ(count_crossing(facts).far_total, (hosts - 1) * count);
      facts.operation = Operation::kAllGather;
      facts.parts = Counts(hosts * ranks, 7);
      const Crossing gathered = count_crossing(facts);
      EXPECT_EQ(gathered.far_total, (hosts - 1) * count);
      EXPECT_EQ(hierarchical_effort(facts).far_moved, gathered.far);
      EXPECT_EQ(hierarchical_effort(facts).moved, gathered.near);
      facts.operation = Operation::kReduceScatter;
      const Crossing scattered = count_crossing(facts);
      EXPECT_EQ(scattered.far_of_host, (hosts - 1) * count / hosts);
      EXPECT_EQ(hierarchical_effort(facts).far_moved, scattered.far);
      EXPECT_EQ(hierarchical_effort(facts).moved, scattered.near);
    }
  }
}

}  // namespace
}  // namespace cohort::comm

#include "symbolic_case.h"

namespace cohort::comm {
namespace {

// Includes calls without host information.
std::vector<std::vector<int>> hosts_of_every_shape(int world) {
  std::vector<std::vector<int>> maps = host_maps(world);
  maps.emplace_back();
  return maps;
}

void expect_narrow_between_hosts(const Case& one) {
  for (int rank = 0; rank < one.facts.world; ++rank) {
    for (const Step& step : plan_call(one.algorithm, one.facts_of(rank)).steps) {
      if (step.kind != StepKind::kSend && step.kind != StepKind::kReceive) continue;
      const auto& hosts = one.facts.hosts;
      const bool is_far = hosts.empty() || hosts[at(rank)] != hosts[at(step.peer)];
      EXPECT_EQ(step.width == Width::kNarrow, is_far) << one.text();
    }
  }
}

// Messages between hosts carry rounded elements, others do not; all ranks that get a sum get the same bits.
class EveryReduction : public ::testing::TestWithParam<std::string> {
 protected:
  const Algorithm& algorithm_ = algorithm_of(*collective_algorithm_named(GetParam()));
};

TEST_P(EveryReduction, RoundsTheSameOnEveryRank) {
  for (const Operation operation : algorithm_.operations) {
    if (!combines(operation)) continue;
    for (const int world : {2, 3, 4, 5, 8, 13}) {
      for (const auto& hosts : hosts_of_every_shape(world)) {
        for (const std::size_t chunk_length : {std::size_t{5}, kUncut}) {
          for_awkward_facts(operation, world, [&](CallFacts facts) {
            facts.wire = WireDType::kBFloat16;
            facts.hosts = hosts;
            facts.chunk_length = chunk_length;
            if (facts.count > 50 || stop() || !serves(algorithm_, facts)) return;
            expect_right({.algorithm = algorithm_, .facts = facts});
            expect_narrow_between_hosts({.algorithm = algorithm_, .facts = facts});
          });
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryReduction,
                         ::testing::Values("direct", "split", "ring", "halving_doubling", "doubling", "tree",
                                           "star", "hierarchical"),
                         [](const auto& algorithm) { return algorithm.param; });

}  // namespace
}  // namespace cohort::comm

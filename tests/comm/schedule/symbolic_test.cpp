#include "expected.h"
#include "symbolic_case.h"

#include <algorithm>

namespace cohort::comm {
namespace {

class EveryAlgorithm : public ::testing::TestWithParam<std::string> {
 protected:
  const Algorithm& algorithm_ = algorithm_of(*collective_algorithm_named(GetParam()));
};

TEST_P(EveryAlgorithm, SumsInTheDocumentedOrder) {
  for (const Operation operation : algorithm_.operations) {
    if (operation == Operation::kAllToAll) continue;  // see TEST(AllToAll, …)
    for (int world = 1; world <= kWorlds && !stop(); ++world) {
      for_awkward_facts(operation, world, [&](const CallFacts& facts) {
        if (!stop()) expect_right({.algorithm = algorithm_, .facts = facts});
      });
    }
  }
}

TEST_P(EveryAlgorithm, TakesTheStepsOfItsFormula) {
  for (const Operation operation : algorithm_.operations) {
    for (int world = 1; world <= kWorlds; ++world) {
      CallFacts facts{.operation = operation, .world = world, .count = 2 * at(world)};
      facts.parts = Counts(at(world), 2);
      facts.arriving = facts.parts;
      std::vector<Schedule> schedules;
      for (facts.rank = 0; facts.rank < world; ++facts.rank)
        schedules.push_back(plan_call(algorithm_, facts));
      facts.rank = 0;
      const std::size_t formula = algorithm_.effort(facts).steps;
      if (algorithm_.name() == "doubling") {
        // A run of parts that wraps around takes two messages; which ranks wait for them differs.
        EXPECT_LE(count_steps(schedules), formula) << name(operation) << ", world " << world;
      } else {
        EXPECT_EQ(count_steps(schedules), formula) << name(operation) << ", world " << world;
      }
    }
  }
}

TEST_P(EveryAlgorithm, TravelsInChunks) {
  for (const Operation operation : algorithm_.operations) {
    if (operation == Operation::kAllToAll) continue;
    for (const int world : {1, 2, 3, 5, 8}) {
      for (const std::size_t chunk_length : {1u, 3u, 40u}) {
        for_awkward_facts(operation, world, [&](CallFacts facts) {
          facts.chunk_length = chunk_length;
          if (facts.count > 200 || stop()) return;
          expect_right({.algorithm = algorithm_, .facts = facts});
        });
      }
    }
  }
}

TEST_P(EveryAlgorithm, TakesNoMoreStepsInChunksThanItsFormula) {
  for (const Operation operation : algorithm_.operations) {
    for (const int world : {2, 3, 4, 5, 8}) {
      for (const std::size_t chunk_length : {3u, 8u, 20u}) {
        CallFacts facts{.operation = operation, .world = world, .count = 60 * at(world)};
        facts.parts = Counts(at(world), 60);
        facts.arriving = facts.parts;
        facts.chunk_length = chunk_length;
        std::vector<Schedule> schedules;
        for (facts.rank = 0; facts.rank < world; ++facts.rank) {
          schedules.push_back(plan_call(algorithm_, facts));
        }
        facts.rank = 0;
        const Effort effort = algorithm_.effort(facts);
        EXPECT_LE(count_steps(schedules), effort.steps)
            << name(operation) << ", world " << world << ", chunks of " << chunk_length;
        if (!combines(operation)) continue;
        facts.chunk_length = kUncut;
        EXPECT_LT(effort.exposed, algorithm_.effort(facts).exposed);
        EXPECT_EQ(algorithm_.effort(facts).exposed, effort.combined);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Flat, EveryAlgorithm,
                         ::testing::Values("direct", "split", "ring", "halving_doubling", "doubling", "tree",
                                           "star", "dissemination"),
                         [](const auto& algorithm) { return algorithm.param; });

// Every expected order must contain each rank exactly once.
TEST(ExpectedSum, HasEveryRankOnce) {
  for (const Algorithm& algorithm : all_algorithms()) {
    for (int world = 1; world <= kWorlds; ++world) {
      CallFacts facts{.operation = Operation::kAllReduce, .world = world, .count = 50};
      for (int rank = 0; rank < world; ++rank) facts.hosts.push_back(rank % 3);
      for (const std::size_t index : {0u, 1u, 25u, 49u}) {
        Terms terms;
        auto leaves = terms.leaves(expected_sum(terms, algorithm.name(), facts, index));
        std::sort(leaves.begin(), leaves.end());
        ASSERT_EQ(leaves.size(), at(world)) << algorithm.name();
        for (int rank = 0; rank < world; ++rank)
          ASSERT_EQ(leaves[at(rank)], std::pair(rank, index)) << algorithm.name();
      }
    }
  }
}

TEST(Ring, TakesAStepForEveryChunk) {
  CallFacts facts{.operation = Operation::kAllReduce, .world = 5, .count = 100, .chunk_length = 5};
  std::vector<Schedule> schedules;
  for (facts.rank = 0; facts.rank < 5; ++facts.rank)
    schedules.push_back(plan_call(algorithm_of(CollectiveAlgorithm::kRing), facts));
  EXPECT_EQ(count_steps(schedules), 2u * 4 * 4);
  EXPECT_EQ(algorithm_of(CollectiveAlgorithm::kRing).effort(facts).steps, 2u * 4 * 4);
}

// Totals over all ranks: every algorithm that cuts the buffer sends 2(n−1) S.
TEST(AllReduce, TotalTrafficIsThatOfTheFormula) {
  for (const char* name : {"ring", "doubling", "split", "halving_doubling"}) {
    for (int world = 1; world <= kWorlds; ++world) {
      const bool is_power = (world & (world - 1)) == 0;
      if (std::string(name) == "halving_doubling" && !is_power) continue;
      for (const std::size_t count : awkward_counts(world)) {
        std::size_t sent = 0, combined = 0;
        for (int rank = 0; rank < world; ++rank) {
          const CallFacts facts{
              .operation = Operation::kAllReduce, .rank = rank, .world = world, .count = count};
          for (const Step& step : plan_call(algorithm_of(*collective_algorithm_named(name)), facts).steps) {
            if (step.kind == StepKind::kSend) sent += step.from.count;
            if (step.kind == StepKind::kCombine) combined += step.from.count;
          }
        }
        EXPECT_EQ(sent, 2 * at(world - 1) * count) << name << ", world " << world;
        EXPECT_EQ(combined, at(world - 1) * count) << name << ", world " << world;
      }
    }
  }
}

TEST(AllToAll, ExchangesEqualAndRaggedParts) {
  const Algorithm& direct = algorithm_of(CollectiveAlgorithm::kDirect);
  for (int world = 1; world <= kWorlds && !stop(); ++world) {
    for (const std::size_t base : {0u, 1u, 3u}) {
      std::vector<Counts> equal, ragged;
      for (std::size_t from = 0; from < at(world); ++from) {
        equal.emplace_back(at(world), base);
        ragged.emplace_back();
        for (std::size_t to = 0; to < at(world); ++to) ragged.back().push_back((from * 3 + to * base) % 4);
      }
      expect_right({.algorithm = direct,
                    .facts = {.operation = Operation::kAllToAll, .world = world},
                    .matrix = equal});
      expect_right({.algorithm = direct,
                    .facts = {.operation = Operation::kAllToAll, .world = world},
                    .matrix = ragged});
    }
  }
}

void expect_same_in_every_order(const Case& one) {
  const std::vector<Schedule> schedules = schedules_of(one);
  Terms terms;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const Sending sending : {Sending::kCopied, Sending::kMeeting}) {
      const auto wrong =
          check_run(terms, one, schedules, memories_of(one, Placing::kInPlace), {seed, sending});
      ASSERT_FALSE(wrong) << one.text() << ", seed " << seed << ": " << *wrong;
    }
  }
}

TEST(EveryOrderOfSteps, GivesTheSameResult) {
  for (const Algorithm& algorithm : all_algorithms()) {
    for (const Operation operation : algorithm.operations) {
      for (const int world : {2, 5, 6}) {
        CallFacts facts{.operation = operation, .world = world, .root = 1, .count = 3 * at(world)};
        if (operation != Operation::kAllReduce) facts.parts = Counts(at(world), 3);
        for (int rank = 0; rank < world; ++rank) facts.hosts.push_back(rank / 2);
        if (operation == Operation::kAllToAll || !serves(algorithm, facts)) continue;
        expect_same_in_every_order({.algorithm = algorithm, .facts = facts});
      }
    }
  }
}

}  // namespace
}  // namespace cohort::comm

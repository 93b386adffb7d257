#include "comm/schedule/algorithm.h"
#include "comm/schedule/hierarchical.h"
#include "comm/schedule/neighbour.h"
#include "expected.h"
#include "schedule_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace cohort::comm {
namespace {

using Counts = std::vector<std::size_t>;

constexpr int kWorlds = 33;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

enum class Placing { kApart, kInPlace };

// All that is known of a case: facts of rank 0 stand for everybody's but where ranks differ.
struct Case {
  const Algorithm& algorithm;
  CallFacts facts{};
  std::vector<Counts> matrix{};  // of all_to_all: [from][to]

  CallFacts facts_of(int rank) const {
    CallFacts own = facts;
    own.rank = rank;
    if (matrix.empty()) return own;
    own.parts = matrix[at(rank)];
    own.count = first_of_part(own.parts, own.world);
    for (const Counts& row : matrix) own.arriving.push_back(row[at(rank)]);
    return own;
  }
  std::string text() const {
    return fmt::format(
        "{} by {}: world {}, root {}, count {}, parts [{}], hosts [{}], chunks of {}, {} on the wire",
        name(facts.operation), algorithm.name, facts.world, facts.root, facts.count,
        fmt::join(facts.parts, " "), fmt::join(facts.hosts, " "), facts.chunk_length, name(facts.wire));
  }
};

std::optional<std::ptrdiff_t> overlap_of(const CallFacts& facts) {
  const auto first = [&] { return static_cast<std::ptrdiff_t>(first_of_part(facts.parts, facts.rank)); };
  switch (facts.operation) {
    case Operation::kReduceScatter:
      return first();
    case Operation::kAllGather:
      return -first();
    case Operation::kScatter:
      return facts.rank == facts.root ? std::optional(first()) : std::nullopt;
    case Operation::kGather:
      return facts.rank == facts.root ? std::optional(-first()) : std::nullopt;
    case Operation::kReduce:
      return facts.rank == facts.root ? std::optional<std::ptrdiff_t>(0) : std::nullopt;
    case Operation::kAllReduce:
    case Operation::kBroadcast:
      return 0;
    default:
      return std::nullopt;
  }
}

std::vector<RankMemory> memories_of(const Case& one, Placing placing) {
  std::vector<RankMemory> memories;
  for (int rank = 0; rank < one.facts.world; ++rank) {
    const CallFacts facts = one.facts_of(rank);
    memories.push_back({.input_count = input_count(facts), .output_count = output_count(facts)});
    if (placing == Placing::kInPlace) memories.back().output_in_input = overlap_of(facts);
  }
  return memories;
}

// Element i of what rank `rank` gets from everybody.
std::vector<Terms::Term> expected_exchange(Terms& terms, const Case& one, int rank) {
  std::vector<Terms::Term> output;
  for (int from = 0; from < one.facts.world; ++from) {
    const std::size_t first = first_of_part(one.matrix[at(from)], rank);
    for (std::size_t i = 0; i < one.matrix[at(from)][at(rank)]; ++i)
      output.push_back(terms.leaf(from, first + i));
  }
  return output;
}

std::optional<std::string> find_wrong_output(Terms& terms, const Case& one, const RunOutcome& outcome) {
  std::vector<Terms::Term> expected;
  for (int rank = 0; rank < one.facts.world; ++rank) {
    if (!one.matrix.empty()) {
      expected = expected_exchange(terms, one, rank);
    } else if (rank == 0 || one.facts.operation != Operation::kAllReduce) {
      expected = expected_output(terms, one.algorithm.name, one.facts_of(rank));
    }
    const auto& got = outcome.outputs[at(rank)];
    if (one.facts.operation == Operation::kBarrier) continue;
    if (got.size() != expected.size()) return fmt::format("rank {} has {} elements", rank, got.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (terms.exact(got[i]) == expected[i]) continue;
      return fmt::format("element {} of rank {} is {}, not {}", i, rank, terms.text(got[i]),
                         terms.text(expected[i]));
    }
  }
  return {};
}

// What several ranks get is rounded the same way on all of them; what did not travel is not rounded at all.
std::optional<std::string> find_wrong_rounding(Terms& terms, const Case& one, const RunOutcome& outcome) {
  if (one.facts.operation != Operation::kAllReduce) return {};
  for (int rank = 0; rank < one.facts.world; ++rank) {
    const auto& got = outcome.outputs[at(rank)];
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] != outcome.outputs[0][i]) {
        return fmt::format("element {} of rank {} is {}, that of rank 0 {}", i, rank, terms.text(got[i]),
                           terms.text(outcome.outputs[0][i]));
      }
      if (terms.is_rounded(got[i]) != (one.facts.wire != WireDType::kSame)) {
        return fmt::format("element {} of rank {} is {}", i, rank, terms.text(got[i]));
      }
    }
  }
  return {};
}

std::optional<std::string> find_wrong_effort(const Case& one, const std::vector<Schedule>& schedules,
                                             const std::vector<Counted>& counted) {
  if (!one.facts.hosts.empty() || !one.matrix.empty()) return {};  // has tests of its own
  const Effort effort = one.algorithm.effort(one.facts);
  std::size_t moved = 0, combined = 0, scratch = 0;
  for (std::size_t rank = 0; rank < counted.size(); ++rank) {
    moved = std::max({moved, counted[rank].sent, counted[rank].received});
    combined = std::max(combined, counted[rank].combined);
    scratch = std::max(scratch, schedules[rank].scratch_count);
  }
  // What is folded in at the beginning and given back at the end does not overlap.
  const bool folds =
      one.algorithm.name == "halving_doubling" && (one.facts.world & (one.facts.world - 1)) != 0;
  if (folds) moved += one.facts.count;
  if (moved == effort.moved && combined == effort.combined && scratch == effort.scratch) return {};
  return fmt::format("moved {}, combined {}, scratch {}; the formula says {}, {}, {}", moved, combined,
                     scratch, effort.moved, effort.combined, effort.scratch);
}

std::optional<std::string> check_run(Terms& terms, const Case& one, const std::vector<Schedule>& schedules,
                                     const std::vector<RankMemory>& memories, RunOptions options) {
  const RunOutcome outcome = run_schedules(terms, schedules, memories, options);
  if (outcome.fault) return outcome.fault;
  if (one.facts.operation == Operation::kBarrier) {
    for (const std::uint64_t heard_of : outcome.heard_of) {
      if (heard_of != (std::uint64_t{1} << one.facts.world) - 1)
        return "a rank leaves that has not heard of all";
    }
  }
  if (auto wrong = find_wrong_output(terms, one, outcome)) return wrong;
  if (auto wrong = find_wrong_rounding(terms, one, outcome)) return wrong;
  return find_wrong_effort(one, schedules, outcome.counted);
}

std::optional<std::string> check_case(const Case& one) {
  std::vector<Schedule> schedules;
  for (int rank = 0; rank < one.facts.world; ++rank) {
    schedules.push_back(plan_call(one.algorithm, one.facts_of(rank)));
  }
  Terms terms;
  for (const Placing placing : {Placing::kApart, Placing::kInPlace}) {
    const std::vector<RankMemory> memories = memories_of(one, placing);
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
      if (auto fault = find_fault(schedules[rank], memories[rank]))
        return fmt::format("rank {}: {}", rank, *fault);
    }
    const std::uint64_t seed = one.facts.count * 31 + at(one.facts.world);
    const Sending sending = placing == Placing::kApart ? Sending::kCopied : Sending::kMeeting;
    if (auto wrong = check_run(terms, one, schedules, memories, {.seed = seed, .sending = sending})) {
      return fmt::format("{}, {}", placing == Placing::kApart ? "apart" : "in place", *wrong);
    }
  }
  return {};
}

void expect_right(const Case& one) {
  const auto wrong = check_case(one);
  EXPECT_FALSE(wrong) << one.text() << ": " << *wrong;
}

bool stop() {
  return ::testing::Test::HasFailure();
}

Counts awkward_counts(int world) {
  std::set<std::size_t> counts = {0, 1, 2, 7, 31, at(world - 1), at(world), at(world + 1), 101};
  if (world <= 5 || world == 8 || world == 13) counts.insert(1000);
  return {counts.begin(), counts.end()};
}

std::vector<Counts> awkward_parts(int world) {
  const std::size_t n = at(world);
  std::vector<Counts> all = {Counts(n, 0), Counts(n, 1), Counts(n, 5)};
  Counts ragged, one_long(n, 0);
  for (std::size_t rank = 0; rank < n; ++rank) ragged.push_back((rank * 7 + 3) % 5);
  one_long[n / 2] = 13;
  all.push_back(ragged);
  std::reverse(ragged.begin(), ragged.end());
  all.push_back(ragged);
  all.push_back(one_long);
  return all;
}

std::vector<int> awkward_roots(int world) {
  std::set<int> roots = {0, world / 2, world - 1};
  if (world <= 9) {
    for (int root = 0; root < world; ++root) roots.insert(root);
  }
  return {roots.begin(), roots.end()};
}

bool has_root(Operation operation) {
  return operation == Operation::kReduce || operation == Operation::kBroadcast ||
         operation == Operation::kGather || operation == Operation::kScatter;
}

// Calls `check` with the facts of every awkward size and root of an operation.
template <class Check>
void for_awkward_facts(Operation operation, int world, Check check) {
  for (const int root : has_root(operation) ? awkward_roots(world) : std::vector<int>{0}) {
    CallFacts facts{.operation = operation, .world = world, .root = root};
    switch (operation) {
      case Operation::kBarrier:
        check(facts);
        break;
      case Operation::kReduceScatter:
      case Operation::kAllGather:
      case Operation::kGather:
      case Operation::kScatter:
        for (const Counts& parts : awkward_parts(world)) {
          facts.parts = parts;
          facts.count = first_of_part(parts, world);
          check(facts);
        }
        break;
      default:
        for (const std::size_t count : awkward_counts(world)) {
          facts.count = count;
          check(facts);
        }
    }
  }
}

class EveryAlgorithm : public ::testing::TestWithParam<std::string> {
 protected:
  const Algorithm& algorithm_ = *find_algorithm(GetParam());
};

TEST_P(EveryAlgorithm, GivesEveryRankWhatItsOrderSays) {
  for (const Operation operation : algorithm_.operations) {
    if (operation == Operation::kAllToAll) continue;  // below
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
      if (algorithm_.name == "doubling") {
        // Messages that pass the end are two; which ranks wait for them differs.
        EXPECT_LE(count_steps(schedules), formula) << name(operation) << ", world " << world;
      } else {
        EXPECT_EQ(count_steps(schedules), formula) << name(operation) << ", world " << world;
      }
    }
  }
}

// The orders that the tests above expect are sums of everybody, once each.
TEST(ExpectedSum, HasEveryRankOnce) {
  for (const Algorithm& algorithm : all_algorithms()) {
    for (int world = 1; world <= kWorlds; ++world) {
      CallFacts facts{.operation = Operation::kAllReduce, .world = world, .count = 50};
      for (int rank = 0; rank < world; ++rank) facts.hosts.push_back(rank % 3);
      for (const std::size_t index : {0u, 1u, 25u, 49u}) {
        Terms terms;
        auto leaves = terms.leaves(expected_sum(terms, algorithm.name, facts, index));
        std::sort(leaves.begin(), leaves.end());
        ASSERT_EQ(leaves.size(), at(world)) << algorithm.name;
        for (int rank = 0; rank < world; ++rank)
          ASSERT_EQ(leaves[at(rank)], std::pair(rank, index)) << algorithm.name;
      }
    }
  }
}

// Hosts of all shapes: in rows, dealt out, of different sizes, of one rank.
std::vector<std::vector<int>> host_maps(int world) {
  std::vector<std::vector<int>> maps(5);
  for (int rank = 0; rank < world; ++rank) {
    maps[0].push_back(rank / 2);
    maps[1].push_back(rank % 3);
    maps[2].push_back(rank < 1 ? 7 : 3);
    maps[3].push_back(rank * rank % 5);
    maps[4].push_back(10 - rank / 4);
  }
  return maps;
}

// And nobody knows which.
std::vector<std::vector<int>> hosts_of_every_shape(int world) {
  std::vector<std::vector<int>> maps = host_maps(world);
  maps.emplace_back();
  return maps;
}

void expect_narrow_between_hosts(const Case& one) {
  for (int rank = 0; rank < one.facts.world; ++rank) {
    for (const Step& step : plan_call(one.algorithm, one.facts_of(rank)).steps) {
      if (step.verb != Verb::kSend && step.verb != Verb::kReceive) continue;
      const auto& hosts = one.facts.hosts;
      const bool is_far = hosts.empty() || hosts[at(rank)] != hosts[at(step.peer)];
      EXPECT_EQ(step.width == Width::kNarrow, is_far) << one.text();
    }
  }
}

bool combines(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduce ||
         operation == Operation::kReduceScatter;
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

// Far ranks get rounded numbers, near ones do not; whoever gets a sum gets the same one.
class EveryReduction : public EveryAlgorithm {};

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

INSTANTIATE_TEST_SUITE_P(Flat, EveryAlgorithm,
                         ::testing::Values("direct", "split", "ring", "halving_doubling", "doubling", "tree",
                                           "star", "dissemination"),
                         [](const auto& algorithm) { return algorithm.param; });
INSTANTIATE_TEST_SUITE_P(All, EveryReduction,
                         ::testing::Values("direct", "split", "ring", "halving_doubling", "doubling", "tree",
                                           "star", "hierarchical"),
                         [](const auto& algorithm) { return algorithm.param; });

TEST(Ring, TakesAStepForEveryChunk) {
  CallFacts facts{.operation = Operation::kAllReduce, .world = 5, .count = 100, .chunk_length = 5};
  std::vector<Schedule> schedules;
  for (facts.rank = 0; facts.rank < 5; ++facts.rank)
    schedules.push_back(plan_call(*find_algorithm("ring"), facts));
  EXPECT_EQ(count_steps(schedules), 2u * 4 * 4);
  EXPECT_EQ(find_algorithm("ring")->effort(facts).steps, 2u * 4 * 4);
}

TEST(AllToAll, ExchangesEqualAndRaggedParts) {
  const Algorithm& direct = *find_algorithm("direct");
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
  std::vector<Schedule> schedules;
  for (int rank = 0; rank < one.facts.world; ++rank) {
    schedules.push_back(plan_call(one.algorithm, one.facts_of(rank)));
  }
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

TEST(Hierarchical, GivesEveryRankWhatItsOrderSays) {
  const Algorithm& hierarchical = *find_algorithm("hierarchical");
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
    std::map<std::pair<Verb, bool>, std::size_t> moved;
    for (const Step& step : plan_call(*find_algorithm("hierarchical"), facts).steps) {
      if (step.verb == Verb::kCopy || step.verb == Verb::kCombine) continue;
      const bool crosses = base.hosts[at(rank)] != base.hosts[at(step.peer)];
      moved[{step.verb, crosses}] += step.verb == Verb::kSend ? step.from.count : step.to.count;
    }
    crossing.near = std::max({crossing.near, moved[{Verb::kSend, false}], moved[{Verb::kReceive, false}]});
    crossing.far = std::max({crossing.far, moved[{Verb::kSend, true}], moved[{Verb::kReceive, true}]});
    crossing.far_total += moved[{Verb::kSend, true}];
    of_host[base.hosts[at(rank)]] += moved[{Verb::kSend, true}];
  }
  for (const auto& host : of_host) crossing.far_of_host = std::max(crossing.far_of_host, host.second);
  return crossing;
}

TEST(Hierarchical, CrossesWithNoMoreThanItMust) {
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

// The sums of all ranks, from the formulas in words: 2(n−1) S for every algorithm that cuts.
TEST(AllReduce, MovesWhatTheFormulaSaysInAll) {
  for (const char* name : {"ring", "doubling", "split", "halving_doubling"}) {
    for (int world = 1; world <= kWorlds; ++world) {
      const bool is_power = (world & (world - 1)) == 0;
      if (std::string(name) == "halving_doubling" && !is_power) continue;
      for (const std::size_t count : awkward_counts(world)) {
        std::size_t sent = 0, combined = 0;
        for (int rank = 0; rank < world; ++rank) {
          const CallFacts facts{
              .operation = Operation::kAllReduce, .rank = rank, .world = world, .count = count};
          for (const Step& step : plan_call(*find_algorithm(name), facts).steps) {
            if (step.verb == Verb::kSend) sent += step.from.count;
            if (step.verb == Verb::kCombine) combined += step.from.count;
          }
        }
        EXPECT_EQ(sent, 2 * at(world - 1) * count) << name << ", world " << world;
        EXPECT_EQ(combined, at(world - 1) * count) << name << ", world " << world;
      }
    }
  }
}

std::vector<Graph> graphs() {
  return {{{}},                                // alone
          {{0}},                               // with itself
          {{1}, {0}},                          // a pair
          {{3, 1}, {0, 2}, {1, 3}, {2, 0}},    // a circle
          {{1, 2, 3, 4}, {0}, {0}, {0}, {0}},  // a star
          {{1, 1}, {}, {0, 1, 2}}};            // directed, named twice, oneself
}

TEST(Neighbours, GetEachOthersNumbersInTheOrderOfTheGraph) {
  for (const Graph& graph : graphs()) {
    for (const std::size_t count : {0u, 1u, 5u}) {
      std::vector<Schedule> schedules;
      std::vector<RankMemory> memories;
      std::size_t moved = 0;
      for (std::size_t rank = 0; rank < graph.size(); ++rank) {
        schedules.push_back(neighbour_schedule(graph, static_cast<int>(rank), count));
        memories.push_back({.input_count = count, .output_count = count * graph[rank].size()});
        EXPECT_EQ(find_fault(schedules.back(), memories.back()), std::nullopt);
      }
      Terms terms;
      const RunOutcome outcome =
          run_schedules(terms, schedules, memories, {.seed = count, .sending = Sending::kMeeting});
      ASSERT_EQ(outcome.fault, std::nullopt);
      for (std::size_t rank = 0; rank < graph.size(); ++rank) {
        for (std::size_t i = 0; i < outcome.outputs[rank].size(); ++i) {
          EXPECT_EQ(outcome.outputs[rank][i], terms.leaf(graph[rank][i / count], i % count));
        }
        moved = std::max({moved, outcome.counted[rank].sent, outcome.counted[rank].received});
      }
      EXPECT_EQ(neighbour_effort(graph, count).moved, moved);
    }
  }
}

}  // namespace
}  // namespace cohort::comm

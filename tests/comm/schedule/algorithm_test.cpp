#include "comm/schedule/algorithm.h"

#include <array>
#include <gtest/gtest.h>
#include <set>

namespace cohort::comm {
namespace {

TEST(Algorithms, AreFoundByTheirNames) {
  std::set<std::string_view> names;
  for (const Algorithm& algorithm : all_algorithms()) {
    EXPECT_TRUE(names.insert(algorithm.name).second) << algorithm.name << " stands twice";
    EXPECT_EQ(find_algorithm(algorithm.name), &algorithm);
    EXPECT_FALSE(algorithm.summary.empty());
    EXPECT_FALSE(algorithm.operations.empty());
  }
  EXPECT_EQ(find_algorithm("telepathy"), nullptr);
}

TEST(Algorithms, DoNotPlanWhatTheyDoNotServe) {
  EXPECT_THROW(plan_call(*find_algorithm("tree"), {.operation = Operation::kAllReduce}), BugError);
  EXPECT_THROW(plan_call(*find_algorithm("hierarchical"), {.operation = Operation::kAllReduce, .world = 2}),
               BugError);
}

TEST(Algorithms, HierarchyNeedsHostsWithCompany) {
  const Algorithm& hierarchical = *find_algorithm("hierarchical");
  CallFacts facts{.operation = Operation::kAllReduce, .world = 3};
  for (const auto& [hosts, expected] : std::vector<std::pair<std::vector<int>, bool>>{
           {{}, false}, {{4, 4, 4}, false}, {{0, 1, 2}, false}, {{0, 1, 0}, true}}) {
    facts.hosts = hosts;
    EXPECT_EQ(serves(hierarchical, facts), expected);
  }
}

CallFacts reduction(int world, std::size_t count) {
  return {.operation = Operation::kAllReduce, .world = world, .count = count};
}

TEST(Choose, TakesTheLeastPredictedTime) {
  const Prices prices{.step_s = 1, .byte_s = 0.001, .combined_byte_s = 0};
  EXPECT_EQ(choose(reduction(8, 1), 4, prices).name, "halving_doubling");
  EXPECT_EQ(choose(reduction(2, 1), 4, prices).name, "direct");
  EXPECT_EQ(choose(reduction(7, 700000), 4, prices).name, "doubling");
  for (const int world : {1, 2, 3, 5, 8}) {
    for (const std::size_t count : {0u, 1u, 1000u, 1000000u}) {
      const CallFacts facts = reduction(world, count);
      const double least = predict_seconds(choose(facts, 4, prices), facts, 4, prices);
      for (const Algorithm& algorithm : all_algorithms()) {
        if (!serves(algorithm, facts)) continue;
        EXPECT_LE(least, predict_seconds(algorithm, facts, 4, prices)) << algorithm.name;
      }
    }
  }
}

// The table in docs/algorithms.md.
TEST(Choose, TakesWithDefaultPricesWhatTheDocumentSays) {
  using Row = std::pair<int, std::vector<std::string_view>>;
  const std::vector<std::size_t> sizes_bytes = {4, std::size_t{64} << 10, std::size_t{1} << 20,
                                                std::size_t{32} << 20};
  const std::vector<Row> rows = {
      {2, {"direct", "direct", "halving_doubling", "halving_doubling"}},
      {3, {"direct", "direct", "ring", "doubling"}},
      {4, {"direct", "halving_doubling", "halving_doubling", "halving_doubling"}},
      {5, {"direct", "doubling", "doubling", "doubling"}},
      {8, {"halving_doubling", "halving_doubling", "halving_doubling", "halving_doubling"}},
      {33, {"halving_doubling", "halving_doubling", "doubling", "doubling"}},
  };
  for (const auto& [world, names] : rows) {
    for (std::size_t i = 0; i < sizes_bytes.size(); ++i) {
      EXPECT_EQ(choose(reduction(world, sizes_bytes[i] / 4), 4, {}).name, names[i])
          << "world " << world << ", " << sizes_bytes[i] << " bytes";
    }
  }
}

TEST(Choose, FindsAnAlgorithmForEveryOperationOfAGroup) {
  for (const Operation operation : kAllOperations) {
    CallFacts facts{
        .operation = operation, .world = 3, .count = 6, .parts = {1, 2, 3}, .arriving = {1, 2, 3}};
    if (operation == Operation::kSend || operation == Operation::kReceive) {
      EXPECT_THROW(choose(facts, 4, {}), BugError);
    } else {
      EXPECT_TRUE(serves(choose(facts, 4, {}), facts)) << name(operation);
    }
  }
}

TEST(Choose, IsTheSameOnEveryRank) {
  for (const Operation operation : {Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter,
                                    Operation::kBroadcast, Operation::kReduce}) {
    CallFacts facts{.operation = operation, .world = 5, .root = 2, .count = 15, .parts = {0, 9, 1, 3, 2}};
    const Algorithm& first = choose(facts, 4, {});
    for (facts.rank = 1; facts.rank < 5; ++facts.rank) EXPECT_EQ(&choose(facts, 4, {}), &first);
  }
}

TEST(Choose, KeepsToTheHostWhereLinksAreSlow) {
  CallFacts facts = reduction(8, 1000000);
  facts.hosts = {0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(choose(facts, 4, {.far_step_s = 1e-3, .far_byte_s = 1e-7}).name, "hierarchical");
}

TEST(PredictSeconds, AddsUpWhatTheFormulaSays) {
  // 2 × 3 steps, 2 × 3/4 × 40 elements, 3/4 × 40 combined.
  const Prices prices{.step_s = 1000, .byte_s = 1, .combined_byte_s = 0.01};
  EXPECT_DOUBLE_EQ(predict_seconds(*find_algorithm("ring"), reduction(4, 40), 4, prices), 6000 + 240 + 1.2);
}

TEST(FactsOf, TakesCountsFromTheCall) {
  std::array<float, 6> six{};
  std::array<float, 2> two{};
  const Numbers numbers{std::span<float>(six)};
  const Numbers part{std::span<float>(two)};
  const CallFacts equal = facts_of(all_gather(part, numbers), 1, 3);
  EXPECT_EQ(equal.parts, (std::vector<std::size_t>{2, 2, 2}));
  EXPECT_EQ(equal.count, 6u);
  const CallFacts ragged = facts_of(reduce_scatter(numbers, part, ReduceOp::kSum, {1, 2, 3}), 1, 3);
  EXPECT_EQ(ragged.parts, (std::vector<std::size_t>{1, 2, 3}));
  const CallFacts rooted = facts_of(reduce(numbers, Numbers(), 2), 1, 3);
  EXPECT_EQ(rooted.root, 2);
  EXPECT_EQ(rooted.count, 6u);
  const CallFacts exchanged = facts_of(all_to_all(numbers, numbers, {1, 2, 3}, {4, 2, 0}), 1, 3);
  EXPECT_EQ(exchanged.arriving, (std::vector<std::size_t>{4, 2, 0}));
}

}  // namespace
}  // namespace cohort::comm

#include "comm/schedule/choice.h"

#include <array>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

namespace cohort::comm {
namespace {

TEST(Algorithms, AreFoundByTheirNames) {
  std::set<std::string_view> names;
  for (const Algorithm& algorithm : all_algorithms()) {
    EXPECT_TRUE(names.insert(algorithm.name()).second) << algorithm.name() << " is listed twice";
    EXPECT_EQ(&algorithm_of(algorithm.id), &algorithm) << algorithm.name();
    EXPECT_FALSE(algorithm.summary.empty());
    EXPECT_FALSE(algorithm.operations.empty());
  }
  EXPECT_EQ(names.size(), std::size(kAllCollectiveAlgorithms));
}

TEST(Algorithms, DoNotPlanWhatTheyDoNotServe) {
  EXPECT_THROW(plan_call(algorithm_of(CollectiveAlgorithm::kTree), {.operation = Operation::kAllReduce}),
               BugError);
  EXPECT_THROW(plan_call(algorithm_of(CollectiveAlgorithm::kHierarchical),
                         {.operation = Operation::kAllReduce, .world = 2}),
               BugError);
}

TEST(Algorithms, HierarchyNeedsHostsWithCompany) {
  const Algorithm& hierarchical = algorithm_of(CollectiveAlgorithm::kHierarchical);
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

std::string_view chosen(const CallFacts& facts, const Prices& prices) {
  return choose(facts, 4, prices).algorithm->name();
}

TEST(Choose, TakesTheLeastPredictedTime) {
  const Prices prices{.step_s = 1, .byte_s = 0.001, .combined_byte_s = 0};
  EXPECT_EQ(chosen(reduction(8, 1), prices), "halving_doubling");
  EXPECT_EQ(chosen(reduction(2, 1), prices), "direct");
  EXPECT_EQ(chosen(reduction(7, 700000), prices), "doubling");
  for (const int world : {1, 2, 3, 5, 8}) {
    for (const std::size_t count : {0u, 1u, 1000u, 1000000u}) {
      const CallFacts facts = reduction(world, count);
      const double least = choose(facts, 4, prices).seconds;
      for (const Algorithm& algorithm : all_algorithms()) {
        if (!serves(algorithm, facts)) continue;
        EXPECT_LE(least, predict_seconds(algorithm, facts, 4, prices)) << algorithm.name();
      }
    }
  }
}

// The table in docs/algorithms.md.
TEST(Choose, DefaultPricesGiveTheTableOfTheDocument) {
  using Row = std::pair<int, std::vector<std::string>>;
  const std::vector<std::size_t> sizes_bytes = {4, std::size_t{64} << 10, std::size_t{1} << 20,
                                                std::size_t{32} << 20};
  const std::vector<Row> rows = {
      {2, {"direct 1", "direct 1", "halving_doubling 1", "halving_doubling 4"}},
      {3, {"direct 1", "direct 1", "ring 1", "doubling 4"}},
      {4, {"direct 1", "halving_doubling 1", "halving_doubling 1", "halving_doubling 8"}},
      {5, {"direct 1", "doubling 1", "doubling 1", "doubling 8"}},
      {8, {"halving_doubling 1", "halving_doubling 1", "halving_doubling 1", "halving_doubling 8"}},
      {33, {"halving_doubling 1", "halving_doubling 1", "doubling 1", "doubling 8"}},
  };
  for (const auto& [world, names] : rows) {
    for (std::size_t i = 0; i < sizes_bytes.size(); ++i) {
      const Choice choice = choose(reduction(world, sizes_bytes[i] / 4), 4, {});
      EXPECT_EQ(fmt::format("{} {}", choice.algorithm->name(), choice.chunks), names[i])
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
      EXPECT_TRUE(serves(*choose(facts, 4, {}).algorithm, facts)) << name(operation);
    }
  }
}

TEST(Choose, IsTheSameOnEveryRank) {
  for (const Operation operation : {Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter,
                                    Operation::kBroadcast, Operation::kReduce}) {
    CallFacts facts{.operation = operation, .world = 5, .root = 2, .count = 15, .parts = {0, 9, 1, 3, 2}};
    facts.wire = WireDType::kFloat16;
    const Choice first = choose(facts, 4, {});
    for (facts.rank = 1; facts.rank < 5; ++facts.rank) {
      EXPECT_EQ(choose(facts, 4, {}).algorithm, first.algorithm);
      EXPECT_EQ(choose(facts, 4, {}).chunk_length, first.chunk_length);
    }
  }
}

TEST(Choose, KeepsToTheHostWhereLinksAreSlow) {
  CallFacts facts = reduction(8, 1000000);
  facts.hosts = {0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(chosen(facts, {.far_step_s = 1e-3, .far_byte_s = 1e-7}), "hierarchical");
}

TEST(Choose, CutsLongBuffersIfCombiningIsSlow) {
  const Prices prices{.step_s = 1e-5, .byte_s = 1e-9, .combined_byte_s = 1e-9, .hidden_share = 0};
  const Choice whole = choose(reduction(2, 16'384), 4, prices);
  EXPECT_EQ(whole.chunks, 1u);
  EXPECT_EQ(whole.chunk_length, kUncut);
  // 2 c α + S/2 γ / c has its minimum at c = sqrt(16 Mi × 1 ns / 20 µs) = 29; among powers of two at 32.
  const Choice cut =
      best_cut(algorithm_of(CollectiveAlgorithm::kHalvingDoubling), reduction(2, 8 << 20), 4, prices);
  EXPECT_EQ(cut.chunks, 32u);
  EXPECT_EQ(cut.chunk_length, (std::size_t{4} << 20) / 32);
  const Prices free_combining{.combined_byte_s = 0};
  EXPECT_EQ(choose(reduction(2, 8 << 20), 4, free_combining).chunks, 1u);
}

TEST(RankChoices, ListsEveryAlgorithmThatServesByItsTime) {
  const CallFacts facts = reduction(5, 1'000'000);
  const std::vector<Choice> choices = rank_choices(facts, 4, {});
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    names.insert(choices[i].algorithm->name());
    if (i > 0) {
      EXPECT_GE(choices[i].seconds, choices[i - 1].seconds);
    }
    CallFacts cut = facts;
    cut.chunk_length = choices[i].chunk_length;
    EXPECT_EQ(choices[i].seconds, predict_seconds(*choices[i].algorithm, cut, 4, {}));
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"direct", "halving_doubling", "doubling", "split", "ring"}));
  EXPECT_EQ(choose(facts, 4, {}).algorithm, choices.front().algorithm);
}

TEST(RankChoices, BeginsWithTheStarWhereOnlyTheRootKnowsTheParts) {
  const CallFacts facts{
      .operation = Operation::kGather, .world = 8, .count = 8, .parts = std::vector<std::size_t>(8, 1)};
  const std::vector<Choice> choices = rank_choices(facts, 4, {});
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[0].algorithm->name(), "star");
  EXPECT_LT(choices[1].seconds, choices[0].seconds);
}

TEST(PredictSeconds, CountsTwoBytesForRoundedElements) {
  const Prices prices{.step_s = 0, .byte_s = 1, .combined_byte_s = 0, .far_step_s = 0, .far_byte_s = 100};
  CallFacts facts = reduction(4, 40);
  const Algorithm& hierarchical = algorithm_of(CollectiveAlgorithm::kHierarchical);
  const auto seconds = [&](const Algorithm& algorithm) {
    return predict_seconds(algorithm, facts, 4, prices);
  };
  const double without_hosts = seconds(algorithm_of(CollectiveAlgorithm::kRing));
  facts.wire = WireDType::kBFloat16;
  EXPECT_DOUBLE_EQ(seconds(algorithm_of(CollectiveAlgorithm::kRing)), without_hosts / 2);
  // Inside 2 × 1/2 S, between hosts 2 × 1/2 S/2.
  facts.hosts = {0, 0, 1, 1};
  EXPECT_DOUBLE_EQ(seconds(hierarchical), 40 * 4 + 20 * 2 * 100);
  facts.wire = WireDType::kSame;
  EXPECT_DOUBLE_EQ(seconds(hierarchical), 40 * 4 + 20 * 4 * 100);
}

TEST(PredictSeconds, ChargesAShareForOverlappedCombining) {
  const Prices prices{.step_s = 0, .byte_s = 0, .combined_byte_s = 1, .hidden_share = 0.5};
  CallFacts facts = reduction(2, 80);
  facts.chunk_length = 10;
  // 40 elements are combined, 10 of them after the last message.
  EXPECT_DOUBLE_EQ(predict_seconds(algorithm_of(CollectiveAlgorithm::kHalvingDoubling), facts, 4, prices),
                   40 + 0.5 * 120);
}

TEST(PredictSeconds, FollowsTheFormula) {
  // 2 × 3 steps, 2 × 3/4 × 40 elements, 3/4 × 40 combined.
  const Prices prices{.step_s = 1000, .byte_s = 1, .combined_byte_s = 0.01};
  EXPECT_DOUBLE_EQ(predict_seconds(algorithm_of(CollectiveAlgorithm::kRing), reduction(4, 40), 4, prices),
                   6000 + 240 + 1.2);
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

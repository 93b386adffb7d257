#include "layout/program.h"

#include "layout/step_builder.h"

#include <gtest/gtest.h>
#include <set>

namespace cohort {
namespace {

std::vector<std::string> texts(const Program& program) {
  std::vector<std::string> all;
  for (const Action& action : program.actions) all.push_back(action.text());
  return all;
}

TEST(Program, UpdatesEachBucketWhenItIsReduced) {
  EXPECT_EQ(texts(data_parallel_program({.micro_batches = {4, 5}, .num_buckets = 2})),
            (std::vector<std::string>{"load micro-batch 4", "forward micro-batch 4", "backward micro-batch 4",
                                      "load micro-batch 5", "forward micro-batch 5", "backward micro-batch 5",
                                      "weigh", "fill bucket 0", "apply bucket 0", "gather bucket 0",
                                      "fill bucket 1", "apply bucket 1", "gather bucket 1", "vote"}));
}

TEST(Program, UpdatesAfterTheVoteIfTheStepMayBeSkipped) {
  EXPECT_EQ(texts(data_parallel_program(
                {.micro_batches = {0}, .num_buckets = 2, .update = UpdateTime::kAfterVote})),
            (std::vector<std::string>{"load micro-batch 0", "forward micro-batch 0", "backward micro-batch 0",
                                      "fill bucket 0", "reduce bucket 0", "fill bucket 1", "reduce bucket 1",
                                      "vote", "update bucket 0", "gather bucket 0", "update bucket 1",
                                      "gather bucket 1"}));
}

TEST(Program, ComputesStagesForwardsAndThenBackwards) {
  const Program program = data_parallel_program({.micro_batches = {4, 5}, .num_stages = 2, .num_buckets = 1});
  EXPECT_EQ(texts(program),
            (std::vector<std::string>{
                "load micro-batch 4", "forward micro-batch 4 stage 0", "forward micro-batch 4 stage 1",
                "backward micro-batch 4 stage 1", "backward micro-batch 4 stage 0", "load micro-batch 5",
                "forward micro-batch 5 stage 0", "forward micro-batch 5 stage 1",
                "backward micro-batch 5 stage 1", "backward micro-batch 5 stage 0", "weigh", "fill bucket 0",
                "apply bucket 0", "gather bucket 0", "vote"}));
  EXPECT_EQ(program.actions[10].after, std::vector<std::size_t>{7})
      << "weights are known after the last forward";
}

TEST(Program, GathersNothingIfThereIsOneCopy) {
  StepShape shape{.micro_batches = {0}, .num_buckets = 2, .copies = Copies::kOne};
  EXPECT_EQ(texts(data_parallel_program(shape)),
            (std::vector<std::string>{"load micro-batch 0", "forward micro-batch 0", "backward micro-batch 0",
                                      "weigh", "fill bucket 0", "apply bucket 0", "fill bucket 1",
                                      "apply bucket 1", "vote"}));
  shape.update = UpdateTime::kAfterVote;
  EXPECT_EQ(texts(data_parallel_program(shape)),
            (std::vector<std::string>{"load micro-batch 0", "forward micro-batch 0", "backward micro-batch 0",
                                      "fill bucket 0", "reduce bucket 0", "fill bucket 1", "reduce bucket 1",
                                      "vote", "update bucket 0", "update bucket 1", "meet"}));
}

TEST(Program, GathersAndMeetsIfTheRanksOfAHostShareACopy) {
  StepShape shape{.micro_batches = {0}, .num_buckets = 1, .copies = Copies::kPerHost};
  EXPECT_EQ(
      texts(data_parallel_program(shape)),
      (std::vector<std::string>{"load micro-batch 0", "forward micro-batch 0", "backward micro-batch 0",
                                "weigh", "fill bucket 0", "apply bucket 0", "gather bucket 0", "vote"}));
  shape.update = UpdateTime::kAfterVote;
  EXPECT_EQ(texts(data_parallel_program(shape)),
            (std::vector<std::string>{"load micro-batch 0", "forward micro-batch 0", "backward micro-batch 0",
                                      "fill bucket 0", "reduce bucket 0", "vote", "update bucket 0",
                                      "gather bucket 0", "meet"}));
}

TEST(Program, CombinesAfterTheFirstPassesOfAllBuckets) {
  StepShape shape{.micro_batches = {0},
                  .num_buckets = 3,
                  .bucket_lanes = 2,
                  .update = UpdateTime::kAfterVote,
                  .two_passes = {1, 0, 1}};
  const Program program = data_parallel_program(shape);
  std::vector<std::string> found = texts(program);
  found.erase(found.begin(), std::find(found.begin(), found.end(), "vote"));
  EXPECT_EQ(found, (std::vector<std::string>{"vote", "prepare bucket 0", "prepare bucket 2", "combine",
                                             "update bucket 0", "gather bucket 0", "update bucket 1",
                                             "gather bucket 1", "update bucket 2", "gather bucket 2"}));
  const auto index = [&](const std::string& text) {
    const std::vector<std::string> all = texts(program);
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), text) - all.begin());
  };
  EXPECT_EQ(program.actions[index("update bucket 1")].after, std::vector<std::size_t>{index("combine")});
  EXPECT_EQ(program.actions[index("prepare bucket 0")].after, std::vector<std::size_t>{index("vote")});
  shape.two_passes = {0, 0, 0};
  EXPECT_EQ(texts(data_parallel_program(shape)).size() + 3, texts(program).size());
}

TEST(Program, ALaneMayHaveNothingToDo) {
  static const BucketActions kNothing = {[](StepBuilder&, int) {}, [](StepBuilder&, int, std::size_t) {}};
  EXPECT_EQ(texts(data_parallel_program({.micro_batches = {0},
                                         .num_buckets = 1,
                                         .update = UpdateTime::kAfterVote,
                                         .copies = Copies::kOne,
                                         .actions = {&kNothing}})),
            (std::vector<std::string>{"load micro-batch 0", "forward micro-batch 0", "backward micro-batch 0",
                                      "vote", "meet"}));
}

TEST(Program, AsksTheSynchronizerOfEachBucketForItsActions) {
  static const BucketActions kMeetOnly = {
      [](StepBuilder& step, int bucket) { step.add_fill(bucket); },
      [](StepBuilder& step, int bucket, std::size_t vote) {
        step.add({.verb = Verb::kUpdate, .lane = step.lane_of(bucket), .bucket = bucket, .after = {vote}});
      }};
  EXPECT_EQ(texts(data_parallel_program(
                {.micro_batches = {0}, .num_buckets = 2, .actions = {&kMeetOnly, &kLockStepActions}})),
            (std::vector<std::string>{"load micro-batch 0", "forward micro-batch 0", "backward micro-batch 0",
                                      "weigh", "fill bucket 0", "fill bucket 1", "apply bucket 1",
                                      "gather bucket 1", "vote", "update bucket 0"}));
}

TEST(Program, GivesEveryRankAllGradientsForAnOptimizerOfItsOwn) {
  EXPECT_EQ(texts(data_parallel_program(
                {.micro_batches = {0}, .num_buckets = 2, .update = UpdateTime::kByEveryRank})),
            (std::vector<std::string>{"load micro-batch 0", "forward micro-batch 0", "backward micro-batch 0",
                                      "fill bucket 0", "reduce bucket 0", "fill bucket 1", "reduce bucket 1",
                                      "vote", "gather gradients of bucket 0", "gather gradients of bucket 1",
                                      "optimize"}));
}

/// Pairs (earlier, later) of actions that run in this order in every run of the program.
std::set<std::pair<std::size_t, std::size_t>> order_of(const Program& program) {
  std::set<std::pair<std::size_t, std::size_t>> order;
  const auto& actions = program.actions;
  for (std::size_t later = 0; later < actions.size(); ++later) {
    std::set<std::size_t> before(actions[later].after.begin(), actions[later].after.end());
    for (std::size_t i = 0; i < later; ++i) {
      const bool is_mark = actions[i].verb == Verb::kFill || actions[later].verb == Verb::kFill;
      if (!is_mark && actions[i].lane == actions[later].lane) before.insert(i);
    }
    for (const std::size_t direct : before) {
      order.emplace(direct, later);
      for (std::size_t i = 0; i < direct; ++i) {
        if (order.contains({i, direct})) order.emplace(i, later);
      }
    }
  }
  return order;
}

std::size_t index_of(const Program& program, const std::string& text) {
  const std::vector<std::string> all = texts(program);
  const auto found = std::find(all.begin(), all.end(), text);
  EXPECT_NE(found, all.end()) << text;
  return static_cast<std::size_t>(found - all.begin());
}

TEST(Program, ActionsWaitForWhatTheyNeed) {
  for (const int lanes : {1, 2, 3}) {
    for (const UpdateTime time :
         {UpdateTime::kWhenReduced, UpdateTime::kAfterVote, UpdateTime::kByEveryRank}) {
      for (const Copies copies : {Copies::kOne, Copies::kPerRank}) {
        const Program program = data_parallel_program({.micro_batches = {0, 1},
                                                       .num_buckets = 5,
                                                       .bucket_lanes = lanes,
                                                       .update = time,
                                                       .copies = copies});
        const auto order = order_of(program);
        const auto precedes = [&](const std::string& first, const std::string& second) {
          return order.contains({index_of(program, first), index_of(program, second)});
        };
        EXPECT_EQ(program.num_lanes, lanes + 1);
        for (int b = 0; b < 5; ++b) {
          const std::string bucket = " bucket " + std::to_string(b);
          const std::string sum = (time == UpdateTime::kWhenReduced ? "apply" : "reduce") + bucket;
          EXPECT_TRUE(precedes("fill" + bucket, sum)) << lanes;
          EXPECT_TRUE(precedes(sum, "vote")) << lanes;
          if (time == UpdateTime::kWhenReduced) {
            EXPECT_TRUE(precedes("weigh", sum)) << lanes;
            EXPECT_TRUE(precedes("forward micro-batch 1", "weigh")) << lanes;
            if (copies == Copies::kPerRank) EXPECT_TRUE(precedes("gather" + bucket, "vote")) << lanes;
          } else if (time == UpdateTime::kAfterVote) {
            EXPECT_TRUE(precedes("vote", "update" + bucket)) << lanes;
            if (copies == Copies::kOne) EXPECT_TRUE(precedes("update" + bucket, "meet")) << lanes;
          } else {
            EXPECT_TRUE(precedes("vote", "gather gradients of" + bucket)) << lanes;
            EXPECT_TRUE(precedes("gather gradients of" + bucket, "optimize")) << lanes;
          }
        }
      }
    }
  }
}

TEST(Program, NeighbouringBucketsAreInFlightAtOnce) {
  const Program program = data_parallel_program({.micro_batches = {0}, .num_buckets = 4, .bucket_lanes = 2});
  const auto order = order_of(program);
  const auto at = [&](const char* text) { return index_of(program, text); };
  EXPECT_FALSE(order.contains({at("apply bucket 0"), at("apply bucket 1")}));
  EXPECT_TRUE(order.contains({at("apply bucket 0"), at("apply bucket 2")}));
}

TEST(Program, RanksWithOtherMicroBatchesHaveTheSameHash) {
  const auto hash = [](const StepShape& shape) { return common_hash(data_parallel_program(shape)); };
  const StepShape shape{.micro_batches = {0}, .num_buckets = 3};
  EXPECT_EQ(hash(shape), hash({.micro_batches = {1, 2}, .num_buckets = 3}));
  EXPECT_EQ(hash(shape), hash({.micro_batches = {}, .num_buckets = 3}));
  EXPECT_NE(hash(shape), hash({.micro_batches = {0}, .num_buckets = 2}));
  EXPECT_NE(hash(shape), hash({.micro_batches = {0}, .num_buckets = 3, .bucket_lanes = 2}));
  EXPECT_NE(hash(shape), hash({.micro_batches = {0}, .num_buckets = 3, .update = UpdateTime::kAfterVote}));
  EXPECT_NE(hash(shape), hash({.micro_batches = {0}, .num_buckets = 3, .copies = Copies::kOne}));
}

}  // namespace
}  // namespace cohort

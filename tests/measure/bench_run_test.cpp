#include "measure/bench_run.h"

#include "base/manual_clock.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace cohort::measure {
namespace {

using namespace std::chrono_literals;

// Contenders that answer at once, on a simulated clock that advances by a fixed time per iteration.
struct Scene {
  ManualClock clock{};
  std::chrono::nanoseconds iteration = 1ms;
  std::vector<std::string> turns{};
  std::vector<RunCommand> commands{};

  Result<std::vector<double>> take(const ContenderName& contender, const RunCommand& command) {
    turns.push_back(contender.label());
    commands.push_back(command);
    clock.advance(iteration * command.iterations);
    if (contender.kind == "lame") return Error(ErrorCode::kUnsupported, "no such operation").within("rank 1");
    if (contender.kind == "broken") return Error(ErrorCode::kPeerLost, "gone");
    return std::vector<double>(command.iterations, contender.kind == "quick" ? 10.0 : 30.0);
  }
  Result<std::vector<CellResult>> run(const BenchPlan& plan) {
    return run_plan(
        plan, [&](const auto& contender, const auto& command) { return take(contender, command); },
        [](const BenchCell&, std::size_t, std::size_t) {}, clock);
  }
};

BenchPlan small_plan() {
  return {.operations = {BenchOperation::kAllReduce},
          .sizes = {1 << 20},
          .contenders = {{.group = "a", .kind = "quick"}, {.group = "b", .kind = "slow"}},
          .rounds = 3,
          .time_per_cell = 30ms};
}

TEST(BenchRun, ContendersTakeTurnsAfterTheyHaveWarmedUp) {
  Scene scene;
  const auto results = scene.run(small_plan());
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_EQ(scene.turns, (std::vector<std::string>{"quick", "quick", "slow", "slow", "quick", "slow", "quick",
                                                   "slow", "quick", "slow"}));
  ASSERT_EQ(results->size(), 1u);
  EXPECT_EQ(results->front().times[0].summary->p10_ns, 10);
  EXPECT_EQ(results->front().times[1].summary->p10_ns, 30);
}

TEST(BenchRun, IterationsFollowFromTheTimeOfOne) {
  Scene scene;  // 30 ms in 3 rounds: 10 iterations of 1 ms each
  const auto results = scene.run(small_plan());
  EXPECT_EQ(scene.commands.back().iterations, 10u);
  EXPECT_EQ(results->front().times[0].summary->count, 30u);
  Scene slow{.iteration = 1s};
  static_cast<void>(slow.run(small_plan()));
  EXPECT_EQ(slow.commands.back().iterations, 3u);
  Scene fast{.iteration = 1ns};
  static_cast<void>(fast.run(small_plan()));
  EXPECT_EQ(fast.commands.back().iterations, 2000u);
}

TEST(BenchRun, EveryCallHasANumberOfItsOwn) {
  Scene scene;
  BenchPlan plan = small_plan();
  plan.batch = 7;
  ASSERT_TRUE(scene.run(plan));
  std::uint64_t next = 0;
  for (const RunCommand& command : scene.commands) {
    EXPECT_EQ(command.salt, next);
    EXPECT_EQ(command.batch, 7u);
    next += command.iterations * 7;
  }
}

TEST(BenchRun, WhoCannotIsLeftOutAndWhoFailsEndsIt) {
  Scene scene;
  BenchPlan plan = small_plan();
  plan.contenders.push_back({.group = "c", .kind = "lame"});
  const auto results = scene.run(plan);
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_FALSE(results->front().times[2].summary);
  EXPECT_EQ(results->front().times[2].unsupported, "no such operation");
  EXPECT_EQ(std::count(scene.turns.begin(), scene.turns.end(), "lame"), 1);

  plan.contenders.push_back({.group = "d", .kind = "broken"});
  EXPECT_EQ(scene.run(plan).error().code(), ErrorCode::kPeerLost);
}

TEST(BenchRun, ARankAloneHasNobodyToSendTo) {
  Scene scene;
  BenchPlan plan = small_plan();
  plan.operations = {BenchOperation::kSendReceive};
  plan.ranks = 1;
  const auto results = scene.run(plan);
  EXPECT_FALSE(results->front().times[0].summary);
  EXPECT_EQ(results->front().times[0].unsupported, "the operation needs two ranks");
  EXPECT_TRUE(scene.turns.empty());
}

TEST(BenchRun, CellsAreOperationsTimesSizesAndOneForTheBarrier) {
  BenchPlan plan = small_plan();
  plan.operations = {BenchOperation::kBroadcast, BenchOperation::kBarrier};
  plan.sizes = {4, 8, 12};
  const auto cells = cells_of(plan);
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[2].bytes, 12u);
  EXPECT_EQ(cells[3].operation, BenchOperation::kBarrier);
}

TEST(BenchRun, SmallCallsAreTimedTogether) {
  EXPECT_EQ(calls_per_sample(0), 64u);
  EXPECT_EQ(calls_per_sample(4), 64u);
  EXPECT_EQ(calls_per_sample(4096), 64u);
  EXPECT_EQ(calls_per_sample(65536), 4u);
  EXPECT_EQ(calls_per_sample(262144), 1u);
  EXPECT_EQ(calls_per_sample(1u << 30), 1u);
}

}  // namespace
}  // namespace cohort::measure

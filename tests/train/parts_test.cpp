#include "train/action_trace.h"
#include "train/engine.h"
#include "train/vote.h"

#include <barrier>
#include <gtest/gtest.h>
#include <mutex>

namespace cohort::train {
namespace {

TEST(Vote, TheMinorityDeviates) {
  EXPECT_EQ(deviating_ranks({5, 5, 5}), std::vector<int>{});
  EXPECT_EQ(deviating_ranks({5, 7, 5}), std::vector<int>{1});
  EXPECT_EQ(deviating_ranks({7, 5, 5}), std::vector<int>{0});
  EXPECT_EQ(deviating_ranks({7, 5}), std::vector<int>{1}) << "without a majority rank 0 is right";
}

const StepShape kTwoBuckets{
    .micro_batches = {3}, .num_buckets = 2, .update = UpdateTime::kAfterVote, .copies = Copies::kPerRank};

TEST(Engine, BucketsRunBesideMicroBatchesInOrder) {
  std::mutex mutex;
  std::vector<std::string> said;
  Engine* running = nullptr;
  Engine engine(2, [&](const Action& action) {
    if (action.verb == Verb::kBackward) {
      running->filled(1);  // bucket 1 is full before bucket 0
      running->filled(0);
    }
    const std::lock_guard lock(mutex);
    said.push_back(action.text());
  });
  running = &engine;
  for (int i = 0; i < 100; ++i) {
    said.clear();
    engine.run(data_parallel_program(kTwoBuckets));
    ASSERT_EQ(said.size(), 10u);
    const auto place = [&](const std::string& text) {
      return std::find(said.begin(), said.end(), text) - said.begin();
    };
    EXPECT_LT(place("reduce bucket 0"), place("reduce bucket 1"));
    EXPECT_LT(place("reduce bucket 1"), place("vote"));
    EXPECT_LT(place("vote"), place("update bucket 0"));
    EXPECT_LT(place("gather bucket 0"), place("update bucket 1"));
  }
}

// The action of one lane ends only after that of the other has begun.
TEST(Engine, LanesRunAtTheSameTime) {
  StepShape shape = kTwoBuckets;
  shape.bucket_lanes = 2;
  std::barrier both(2);
  Engine* running = nullptr;
  Engine engine(3, [&](const Action& action) {
    if (action.verb == Verb::kBackward) {
      running->filled(0);
      running->filled(1);
    }
    if (action.verb == Verb::kReduce) both.arrive_and_wait();
  });
  running = &engine;
  engine.run(data_parallel_program(shape));
}

TEST(Engine, AFailureInAnyLaneEndsAll) {
  StepShape shape = kTwoBuckets;
  shape.bucket_lanes = 2;
  for (const Verb failing : {Verb::kForward, Verb::kReduce, Verb::kVote}) {
    Engine* running = nullptr;
    Engine engine(3, [&](const Action& action) {
      if (action.verb == failing) throw std::runtime_error("planted");
      if (action.verb == Verb::kBackward) {
        running->filled(0);
        running->filled(1);
      }
    });
    running = &engine;
    EXPECT_THROW(engine.run(data_parallel_program(shape)), std::runtime_error);
    EXPECT_THROW(engine.run(data_parallel_program(shape)), Error) << "a failed engine does not go on";
  }
}

// run() throws the cause of several failures, whichever lane the cause is in.
TEST(Engine, AFailureThatFollowsFromAnotherIsNotThrown) {
  StepShape shape = kTwoBuckets;
  shape.bucket_lanes = 2;
  for (const int cause : {0, 1}) {
    std::barrier both(2);
    Engine* running = nullptr;
    Engine engine(3, [&](const Action& action) {
      if (action.verb == Verb::kBackward) {
        running->filled(0);
        running->filled(1);
      }
      if (action.verb != Verb::kReduce) return;
      both.arrive_and_wait();
      if (action.bucket == cause) throw std::out_of_range("planted");  // no base of Error
      raise(Error(ErrorCode::kAborted, "a consequence"));
    });
    running = &engine;
    EXPECT_THROW(engine.run(data_parallel_program(shape)), std::out_of_range) << cause;
  }
}

// A second fit counts its steps from 0 again.
TEST(ActionTrace, StepsAreInTheOrderInWhichTheyRan) {
  ActionTrace trace(1, /*capacity=*/8);
  const auto now = std::chrono::steady_clock::now();
  for (const std::int64_t step : {0, 1, 2, 0, 1}) {
    trace.begin_step(step);
    trace.add(0, {.verb = Verb::kForward}, now, now);
    trace.add(1, {.verb = Verb::kVote}, now, now);
    trace.end_step();
  }
  std::vector<std::int64_t> steps;
  for (const TracedAction& each : trace.whole_steps()) steps.push_back(each.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{2, 2, 0, 0, 1, 1}))
      << "the oldest that are left may be incomplete";
}

TEST(ActionTrace, IsTheProgramWithTimes) {
  StepShape shape = kTwoBuckets;
  shape.bucket_lanes = 2;
  const Program program = data_parallel_program(shape);
  ActionTrace trace(3, /*capacity=*/64);
  Engine* running = nullptr;
  Engine engine(3, [&](const Action& action) {
    if (action.verb == Verb::kBackward) {
      running->filled(1);
      running->filled(0);
    }
  });
  running = &engine;
  engine.set_trace(&trace);
  for (int step = 5; step < 8; ++step) {
    trace.begin_step(step);
    engine.run(program);
  }
  const std::vector<TracedAction> traced = trace.whole_steps();
  ASSERT_EQ(traced.size(), 3 * program.actions.size());
  for (std::size_t i = 0; i < traced.size(); ++i) {
    const Action& planned = program.actions[i % program.actions.size()];
    EXPECT_EQ(traced[i].action.text(), planned.text());
    EXPECT_EQ(traced[i].action.lane, planned.lane);
    EXPECT_EQ(traced[i].step, 5 + static_cast<std::int64_t>(i / program.actions.size()));
    EXPECT_LE(traced[i].begin, traced[i].end);
    for (const std::size_t before : planned.after) {
      const std::size_t first = i / program.actions.size() * program.actions.size();
      EXPECT_LE(traced[first + before].end, traced[i].begin);
    }
  }
}

TEST(ActionTrace, KeepsWholeStepsOnly) {
  ActionTrace trace(2, /*capacity=*/3);
  const auto now = std::chrono::steady_clock::now();
  for (int step = 0; step < 4; ++step) {
    trace.begin_step(step);
    trace.add(0, {.verb = Verb::kForward, .lane = 0}, now, now);
    trace.add(1, {.verb = Verb::kReduce, .lane = 1, .bucket = 0}, now, now);
    trace.add(2, {.verb = Verb::kReduce, .lane = 1, .bucket = 1}, now, now);
    trace.end_step();
  }
  trace.begin_step(4);
  trace.add(0, {.verb = Verb::kForward, .lane = 0}, now, now);  // a step that fails has no end
  const std::vector<TracedAction> traced = trace.whole_steps();
  ASSERT_EQ(traced.size(), 3u) << "lane 1 has lost a part of step 2";
  for (const TracedAction& each : traced) EXPECT_EQ(each.step, 3);
}

}  // namespace
}  // namespace cohort::train

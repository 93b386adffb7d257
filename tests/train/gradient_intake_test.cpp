#include "train/gradient_intake.h"

#include "training_world.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <string>

namespace cohort::test {
namespace {

using train::Arrival;
using train::GradientIntake;
using train::ReportFull;

// Three parameters, each in a bucket of its own: gradients are expected in the order 2, 1, 0.
struct Intake : train::GradientSink {
  explicit Intake(Arena& arena, ReportFull report = ReportFull::kDuringBackward)
      : parameters{leaf(), leaf(), leaf()},
        buckets(arena, parameters,
                layout_for(train::element_counts(parameters), train::expected_order(3), 1, 16)),
        intake(buckets, *this, report) {
    EXPECT_EQ(buckets.layout().buckets.size(), 3u);
  }

  static at::Tensor leaf() { return at::ones({16}).requires_grad_(); }
  void backward(std::size_t p) { parameters[p].sum().backward(); }
  std::string taken() { return std::exchange(events, {}); }
  // A first round, in which no bucket is full before the end.
  void learn(Communicator& group, std::vector<std::size_t> order) {
    intake.begin_round();
    intake.expect_last();
    for (const std::size_t p : order) backward(p);
    intake.end_round();
    static_cast<void>(intake.learn_order(group));
    events.clear();
    intake.begin_round();
    intake.expect_last();
  }

  bool accepts(std::size_t) override { return is_round; }
  void store(std::size_t p, at::Tensor gradient, Arrival arrival) override {
    EXPECT_FALSE(gradient.is_sparse());
    EXPECT_FALSE(parameters[p].grad().defined());
    constexpr const char* kNames[] = {"first", "backward", "part", "late"};
    events += fmt::format("{} {}, ", kNames[static_cast<int>(arrival)], p);
  }
  void full(std::size_t bucket) override { events += fmt::format("full {}, ", bucket); }

  std::vector<at::Tensor> parameters;
  train::BucketSet buckets;
  std::string events{};
  bool is_round = true;
  GradientIntake intake;
};

TEST(GradientIntake, ReportsNothingBeforeTheEndOfTheFirstRound) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    Intake sink(arena);
    sink.intake.expect_last();
    sink.backward(0);
    sink.backward(2);
    sink.backward(1);
    EXPECT_EQ(sink.taken(), "first 0, first 2, first 1, ");
    sink.intake.end_round();
    EXPECT_EQ(sink.taken(), "full 0, full 1, full 2, ");
    EXPECT_EQ(sink.intake.learn_order(group), (std::vector<std::size_t>{0, 2, 1}));
    EXPECT_TRUE(sink.intake.order_is_known());
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(GradientIntake, ReportsFullBucketsInOrder) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    Intake sink(arena);
    sink.learn(group, {2, 1, 0});
    sink.backward(1);  // its bucket follows that of 2
    EXPECT_EQ(sink.taken(), "first 1, ");
    sink.backward(2);
    EXPECT_EQ(sink.taken(), "first 2, full 0, full 1, ");
    EXPECT_FALSE(sink.intake.has_arrived(0));
    sink.intake.end_round();
    EXPECT_EQ(sink.taken(), "full 2, ");
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(GradientIntake, CountsTheLastBackwardOnly) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    Intake sink(arena);
    sink.learn(group, {2, 1, 0});
    sink.intake.begin_round();
    sink.backward(2);
    sink.intake.begin_backward();
    EXPECT_TRUE(sink.intake.has_arrived(2));
    sink.intake.expect_last();
    sink.backward(2);
    EXPECT_EQ(sink.taken(), "first 2, backward 2, full 0, ");
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(GradientIntake, WaitsForParametersThatComeInParts) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    Intake sink(arena);
    sink.learn(group, {2, 1, 0, 1});
    for (const std::size_t p : {2u, 1u, 0u, 1u}) sink.backward(p);
    EXPECT_EQ(sink.taken(), "first 2, full 0, first 1, first 0, part 1, ");
    sink.backward(2);
    EXPECT_EQ(sink.taken(), "late 2, ") << "the bucket was full before this gradient";
    sink.intake.end_round();
    EXPECT_EQ(sink.taken(), "full 1, full 2, ");
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(GradientIntake, CanWaitForTheEnd) {
  const auto outcome = run_training(1, [&](Communicator& group, Arena& arena) {
    Intake sink(arena, ReportFull::kAtEnd);
    sink.learn(group, {2, 1, 0});
    for (const std::size_t p : {2u, 1u, 0u}) sink.backward(p);
    EXPECT_EQ(sink.taken(), "first 2, first 1, first 0, ");
    sink.intake.end_round();
    EXPECT_EQ(sink.taken(), "full 0, full 1, full 2, ");
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(GradientIntake, LeavesGradientsThatAreNotAccepted) {
  const auto outcome = run_training(1, [&](Communicator&, Arena& arena) {
    Intake sink(arena);
    sink.is_round = false;
    sink.backward(1);
    EXPECT_EQ(sink.taken(), "");
    EXPECT_TRUE(sink.parameters[1].grad().defined());
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(GradientIntake, AllRanksLearnTheOrderOfRankZero) {
  const auto outcome = run_training(3, [&](Communicator& group, Arena& arena) {
    Intake sink(arena);
    sink.intake.expect_last();
    if (group.rank() == 0) sink.backward(1);
    sink.backward(2);
    EXPECT_EQ(sink.intake.learn_order(group), (std::vector<std::size_t>{1, 2, 0}))
        << "a parameter without a gradient is at the end";
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test

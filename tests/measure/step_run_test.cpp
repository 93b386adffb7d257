#include "measure/step_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cohort::measure {
namespace {

const StepProgress kSilent = [](const std::string&, int) {};

TEST(StepRun, WarmsUpThenTakesTurns) {
  std::vector<std::string> calls;
  const auto take = [&](const std::string& group, const StepCommand& command) -> Result<std::vector<double>> {
    calls.push_back(fmt::format("{}{}", group, command.steps));
    return std::vector<double>(command.steps, 1.0);
  };
  ASSERT_TRUE(run_steps({.groups = {"a", "b"}, .rounds = 2, .steps = 5, .warm_up_steps = 3}, take, kSilent));
  EXPECT_EQ(calls, (std::vector<std::string>{"a3", "b3", "a5", "b5", "a5", "b5"}));
}

TEST(StepRun, SummarizesAllRoundsWithoutTheWarmUp) {
  double next = 0;
  const auto take = [&](const std::string& group, const StepCommand& command) -> Result<std::vector<double>> {
    std::vector<double> times;
    for (std::uint32_t i = 0; i < command.steps; ++i) times.push_back(group == "slow" ? 1000 : ++next);
    return times;
  };
  // For the fast group sample 1 is the warm-up; samples 2 … 21 are its steps.
  const auto times =
      run_steps({.groups = {"quick", "slow"}, .rounds = 5, .steps = 4, .warm_up_steps = 1}, take, kSilent);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->at("quick").count, 20u);
  EXPECT_EQ(times->at("quick").best_ns, 2);
  EXPECT_EQ(times->at("quick").p10_ns, 3);
  EXPECT_EQ(times->at("slow").p50_ns, 1000);
}

TEST(StepRun, EndsWithTheFirstFailure) {
  int calls = 0;
  const auto take = [&](const std::string& group, const StepCommand&) -> Result<std::vector<double>> {
    ++calls;
    if (group == "b") return Error(ErrorCode::kPeerLost, "rank 1 of 'b' is gone");
    return std::vector<double>{1};
  };
  const auto times = run_steps({.groups = {"a", "b", "c"}}, take, kSilent);
  ASSERT_FALSE(times);
  EXPECT_EQ(times.error().message(), "rank 1 of 'b' is gone");
  EXPECT_EQ(calls, 2);
}

TEST(StepRun, RatiosNeedBothSides) {
  EXPECT_EQ(ratio_of(3.0, 2.0), 1.5);
  EXPECT_EQ(ratio_of(std::nullopt, 2.0), std::nullopt);
  EXPECT_EQ(ratio_of(3.0, std::nullopt), std::nullopt);
  EXPECT_EQ(ratio_of(3.0, 0.0), std::nullopt);
}

}  // namespace
}  // namespace cohort::measure

#include "comm/message_passing/executor.h"

#include "base/check.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace cohort::comm {
namespace {

constexpr Region output(std::size_t first, std::size_t count) {
  return {.memory = Memory::kOutput, .first = first, .count = count};
}
constexpr Region input(std::size_t first, std::size_t count) {
  return {.memory = Memory::kInput, .first = first, .count = count};
}
constexpr Region scratch(std::size_t first, std::size_t count) {
  return {.memory = Memory::kScratch, .first = first, .count = count};
}

// Advances the executor as far as possible, without a budget.
std::vector<Executor::Message> next_of(Executor& executor) {
  std::size_t budget_bytes = std::numeric_limits<std::size_t>::max();
  std::vector<Executor::Message> messages;
  while (executor.can_go_on()) {
    for (const Executor::Message& message : executor.next(budget_bytes)) messages.push_back(message);
  }
  return messages;
}

TEST(Executor, StepsBeginWhenThoseBeforeThemAreDone) {
  std::vector<std::int32_t> in = {1, 2, 3};
  std::vector<std::int32_t> out(3);
  std::vector<std::int32_t> room = {10, 20, 30};
  Schedule schedule{.scratch_count = 3};
  schedule.steps = {{.kind = StepKind::kCopy, .from = input(0, 3), .to = output(0, 3)},
                    {.kind = StepKind::kReceive, .peer = 1, .to = scratch(0, 3)},
                    {.kind = StepKind::kCombine, .from = scratch(0, 3), .to = output(0, 3), .after = {0, 1}},
                    {.kind = StepKind::kSend, .peer = 2, .from = output(0, 3), .after = {2}}};
  Executor executor(schedule,
                    {std::span<const std::int32_t>(in), std::span(out), std::span(room), ReduceOp::kSum});

  const auto first = next_of(executor);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].kind, StepKind::kReceive);
  EXPECT_EQ(out, in);
  EXPECT_TRUE(next_of(executor).empty()) << "each message is handed out once";
  EXPECT_EQ(executor.pending_peers(), std::vector<int>{1});
  EXPECT_TRUE(executor.waits_for(2));

  executor.finished(first[0].step);
  const auto second = next_of(executor);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].peer, 2);
  EXPECT_EQ(out, (std::vector<std::int32_t>{11, 22, 33}));
  EXPECT_FALSE(executor.is_done());
  executor.finished(second[0].step);
  EXPECT_TRUE(executor.is_done());
  EXPECT_FALSE(executor.waits_for(1));
}

TEST(Executor, MessagesOfAPairAreCountedInTheOrderOfSteps) {
  std::vector<std::int32_t> out(4);
  Schedule schedule;
  schedule.steps = {{.kind = StepKind::kSend, .peer = 1, .from = output(0, 1)},
                    {.kind = StepKind::kReceive, .peer = 1, .to = output(1, 1)},
                    {.kind = StepKind::kSend, .peer = 2, .from = output(0, 1)},
                    {.kind = StepKind::kSend, .peer = 1, .from = output(0, 0)},
                    {.kind = StepKind::kReceive, .peer = 1, .to = output(2, 1)}};
  Executor executor(schedule,
                    {.input = {}, .output = std::span(out), .scratch = Numbers(nullptr, 0, DType::kI32)});
  const auto messages = next_of(executor);
  ASSERT_EQ(messages.size(), 5U);
  const std::uint64_t expected[] = {0, 0, 0, 1, 1};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(messages[i].index, expected[i]) << i;
}

TEST(Executor, TheOrderOfACombinationIsKept) {
  // min of +0 and -0 keeps the left operand, so the sign of the result tells which one was on the left.
  for (const Order order : {Order::kFromFirst, Order::kToFirst}) {
    std::vector<float> in = {-0.0F};
    std::vector<float> out = {0.0F};
    Schedule schedule;
    schedule.steps = {{.kind = StepKind::kCombine, .from = input(0, 1), .to = output(0, 1), .order = order}};
    Executor executor(schedule, {.input = std::span<const float>(in),
                                 .output = std::span(out),
                                 .scratch = Numbers(nullptr, 0, DType::kF32),
                                 .reduce_op = ReduceOp::kMin});
    (void)next_of(executor);
    EXPECT_EQ(std::signbit(out[0]), order == Order::kFromFirst) << "of two equal values the left one is kept";
  }
}

TEST(Executor, HandsOutMessagesBeforeItWorks) {
  std::vector<std::int32_t> in = {1, 2};
  std::vector<std::int32_t> out(2);
  Schedule schedule;
  schedule.steps = {{.kind = StepKind::kCopy, .from = input(0, 1), .to = output(0, 1)},
                    {.kind = StepKind::kCopy, .from = input(1, 1), .to = output(1, 1)},
                    {.kind = StepKind::kSend, .peer = 1, .from = input(0, 2)}};
  Executor executor(schedule, {.input = std::span<const std::int32_t>(in),
                               .output = std::span(out),
                               .scratch = Numbers(nullptr, 0, DType::kI32)});
  std::size_t budget_bytes = 4;
  EXPECT_EQ(executor.next(budget_bytes).size(), 1U);
  EXPECT_EQ(out, (std::vector<std::int32_t>{0, 0}));
  EXPECT_TRUE(executor.next(budget_bytes).empty());
  EXPECT_EQ(out, (std::vector<std::int32_t>{1, 0})) << "no more than the budget";
  EXPECT_EQ(budget_bytes, 0U);
  EXPECT_TRUE(executor.can_go_on());
  budget_bytes = 4;
  (void)executor.next(budget_bytes);
  EXPECT_EQ(out, in);
  EXPECT_FALSE(executor.can_go_on());
}

TEST(Executor, NarrowMessagesAreRoundedWhenSentAndWidenedWhenReceived) {
  std::vector<float> in = {1.0F + 0x1p-9F, 3.0F, -0.5F};
  std::vector<float> out(3);
  Schedule schedule;
  schedule.wire = WireDType::kBFloat16;
  schedule.steps = {{.kind = StepKind::kSend, .peer = 1, .from = input(0, 3), .width = Width::kNarrow},
                    {.kind = StepKind::kReceive, .peer = 1, .to = output(0, 3), .width = Width::kNarrow},
                    {.kind = StepKind::kSend, .peer = 2, .from = output(0, 3), .after = {1}}};
  Executor executor(schedule, {.input = std::span<const float>(in),
                               .output = std::span(out),
                               .scratch = Numbers(nullptr, 0, DType::kF32)});
  const auto messages = next_of(executor);
  ASSERT_EQ(messages.size(), 2U);
  const auto& receive = messages[messages[0].kind == StepKind::kReceive ? 0 : 1];
  const auto& send = messages[messages[0].kind == StepKind::kReceive ? 1 : 0];
  ASSERT_EQ(send.from.size_bytes(), 6U);
  ASSERT_EQ(receive.to.size_bytes(), 6U);
  std::memcpy(receive.to.data, send.from.data, 6);
  executor.finished(send.step);
  executor.finished(receive.step);
  EXPECT_EQ(out, (std::vector<float>{1.0F, 3.0F, -0.5F}));
  const auto last = next_of(executor);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].from.size_bytes(), 12U) << "elements that are not narrowed are sent as they are";
}

TEST(Executor, AScheduleThatReachesBeyondItsMemoriesIsABug) {
  std::vector<float> numbers(3);
  const Executor::Memories memories{
      .input = {}, .output = std::span(numbers), .scratch = Numbers(nullptr, 0, DType::kF32)};
  const Step beyond = {.kind = StepKind::kReceive, .peer = 1, .to = output(1, 3)};
  EXPECT_THROW(Executor({.steps = {beyond}}, memories), BugError);
  const Step into_input = {.kind = StepKind::kReceive, .peer = 1, .to = input(0, 0)};
  EXPECT_THROW(Executor({.steps = {into_input}}, memories), BugError);
  const Step after_itself = {.kind = StepKind::kSend, .peer = 1, .from = output(0, 1), .after = {0}};
  EXPECT_THROW(Executor({.steps = {after_itself}}, memories), BugError);
}

}  // namespace
}  // namespace cohort::comm

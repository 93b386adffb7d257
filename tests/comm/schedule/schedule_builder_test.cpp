#include "comm/schedule/schedule_builder.h"

#include <gtest/gtest.h>

namespace cohort::comm {
namespace {

using After = std::vector<int>;

const CallFacts kReduction{.operation = Operation::kAllReduce, .world = 3, .count = 10};

Region in(std::size_t first, std::size_t count) {
  return {Memory::kInput, first, count};
}
Region out(std::size_t first, std::size_t count) {
  return {Memory::kOutput, first, count};
}

After last_after(ScheduleBuilder builder) {
  return std::move(builder).finish().steps.back().after;
}

TEST(ScheduleBuilder, ReadersDoNotWaitForReaders) {
  ScheduleBuilder builder(kReduction);
  builder.send(1, in(0, 10));
  builder.send(2, in(0, 10));
  EXPECT_EQ(last_after(builder), After{});
}

TEST(ScheduleBuilder, AReaderWaitsForTheLastWriter) {
  ScheduleBuilder builder(kReduction);
  builder.recv(1, out(0, 10));
  builder.combine(in(2, 3), out(2, 3), Order::kToFirst);
  builder.send(1, out(3, 1));
  EXPECT_EQ(last_after(builder), After{1});
}

TEST(ScheduleBuilder, AReaderOfTwoWritersWaitsForBoth) {
  ScheduleBuilder builder(kReduction);
  builder.recv(1, out(0, 4));
  builder.recv(2, out(4, 6));
  builder.send(1, out(3, 2));
  EXPECT_EQ(last_after(builder), (After{0, 1}));
}

TEST(ScheduleBuilder, AWriterWaitsForReadersOfWhatItOverwrites) {
  ScheduleBuilder builder(kReduction);
  builder.recv(1, out(0, 10));
  builder.send(1, out(0, 5));
  builder.send(2, out(4, 6));
  builder.recv(2, out(4, 1));
  EXPECT_EQ(last_after(builder), (After{1, 2}));
}

TEST(ScheduleBuilder, NeighboursAreApart) {
  ScheduleBuilder builder(kReduction);
  builder.recv(1, out(0, 5));
  builder.recv(2, out(5, 5));
  EXPECT_EQ(last_after(builder), After{});
}

TEST(ScheduleBuilder, OutputMayBeInput) {
  ScheduleBuilder builder(kReduction);
  builder.send(1, in(3, 2));
  builder.recv(1, out(4, 1));
  EXPECT_EQ(last_after(builder), After{0});
}

TEST(ScheduleBuilder, OutputMayBeAPartOfInput) {
  CallFacts facts{
      .operation = Operation::kReduceScatter, .rank = 1, .world = 3, .count = 9, .parts = {4, 3, 2}};
  ScheduleBuilder builder(facts);
  builder.send(0, in(0, 4));
  builder.send(2, in(6, 3));
  builder.recv(0, out(2, 1));
  EXPECT_EQ(last_after(builder), After{1});
}

TEST(ScheduleBuilder, InputMayBeAPartOfOutput) {
  CallFacts facts{.operation = Operation::kAllGather, .rank = 1, .world = 3, .count = 9, .parts = {4, 3, 2}};
  ScheduleBuilder builder(facts);
  builder.send(0, in(0, 3));
  builder.recv(0, out(0, 4));
  builder.recv(0, out(6, 1));
  EXPECT_EQ(last_after(builder), After{0});
}

TEST(ScheduleBuilder, OutputOfAllToAllIsApart) {
  ScheduleBuilder builder({.operation = Operation::kAllToAll, .world = 2});
  builder.send(1, in(0, 2));
  builder.recv(1, out(0, 2));
  EXPECT_EQ(last_after(builder), After{});
}

TEST(ScheduleBuilder, NothingLeavesNoStep) {
  ScheduleBuilder builder(kReduction);
  builder.send(1, in(3, 0));
  builder.recv(1, out(3, 0));
  builder.copy(in(3, 0), out(3, 0));
  builder.combine(in(3, 0), out(3, 0), Order::kToFirst);
  builder.copy(out(0, 5), out(0, 5));
  EXPECT_TRUE(std::move(builder).finish().steps.empty());
}

TEST(ScheduleBuilder, SignalsAreSteps) {
  ScheduleBuilder builder(kReduction);
  const int heard = builder.receive_signal(1);
  EXPECT_EQ(builder.send_signal(2, {heard}), 1);
  EXPECT_EQ(last_after(builder), After{heard});
}

TEST(ScheduleBuilder, ScratchIsHandedOutOnce) {
  ScheduleBuilder builder(kReduction);
  EXPECT_EQ(builder.scratch(3).first, 0u);
  EXPECT_EQ(builder.scratch(4).first, 3u);
  EXPECT_EQ(std::move(builder).finish().scratch_count, 7u);
}

TEST(EvenPart, CutsLongerPartsFirst) {
  EXPECT_EQ(even_part(7, 0, 3).count, 3u);
  EXPECT_EQ(even_part(7, 1, 3).first, 3u);
  EXPECT_EQ(even_part(7, 2, 3).count, 2u);
  EXPECT_EQ(even_part(2, 2, 3).count, 0u);
  EXPECT_EQ(even_part(2, 2, 3).first, 2u);
}

}  // namespace
}  // namespace cohort::comm

#include "schedule_check.h"

#include <gtest/gtest.h>

// Tests of the checker itself: it must detect every kind of mistake.

namespace cohort::comm {
namespace {

constexpr Region kIn{Memory::kInput, 0, 2};
constexpr Region kOut{Memory::kOutput, 0, 2};
constexpr Region kTemporary{Memory::kScratch, 0, 2};
const RankMemory kMemory{.input_count = 2, .output_count = 2};

Step send(int peer, Region from, std::vector<int> after = {}) {
  return {.kind = StepKind::kSend, .peer = peer, .from = from, .after = std::move(after)};
}
Step recv(int peer, Region to, std::vector<int> after = {}) {
  return {.kind = StepKind::kReceive, .peer = peer, .to = to, .after = std::move(after)};
}
Step copy(Region from, Region to, std::vector<int> after = {}) {
  return {.kind = StepKind::kCopy, .from = from, .to = to, .after = std::move(after)};
}
Step combine(Region from, Region to, std::vector<int> after = {}) {
  return {.kind = StepKind::kCombine, .from = from, .to = to, .after = std::move(after)};
}

std::string fault_of(const std::vector<Schedule>& schedules, Sending sending = Sending::kCopied) {
  Terms terms;
  const std::vector<RankMemory> memories(schedules.size(), kMemory);
  return run_schedules(terms, schedules, memories, {.seed = 1, .sending = sending}).fault.value_or("none");
}

std::string fault_of(const Schedule& schedule, const RankMemory& memory = kMemory) {
  return find_fault(schedule, memory).value_or("none");
}

TEST(ScheduleCheck, SwapsBetweenTwo) {
  const std::vector<Schedule> swap = {{0, {send(1, kIn), recv(1, kOut)}}, {0, {send(0, kIn), recv(0, kOut)}}};
  Terms terms;
  const RunOutcome outcome = run_schedules(terms, swap, {kMemory, kMemory}, {});
  EXPECT_EQ(outcome.fault, std::nullopt);
  EXPECT_EQ(outcome.outputs[0][1], terms.leaf(1, 1));
  EXPECT_EQ(outcome.outputs[1][0], terms.leaf(0, 0));
  EXPECT_EQ(outcome.counted[0].sent, 2u);
  EXPECT_EQ(outcome.counted[1].received, 2u);
  EXPECT_EQ(count_steps(swap), 1u);
}

TEST(ScheduleCheck, SeesThatRanksWaitForEachOther) {
  const Schedule zero{0, {recv(1, kOut), send(1, kOut, {0})}};
  const Schedule one{0, {recv(0, kOut), send(0, kOut, {0})}};
  EXPECT_EQ(fault_of({zero, one}), "rank 0 is deadlocked: 0 of 2 steps are done");
}

TEST(ScheduleCheck, SeesThatSendsWaitForReceivesThatComeLater) {
  const Schedule zero{0, {send(1, kIn), recv(1, kOut, {0})}};
  const Schedule one{0, {send(0, kIn), recv(0, kOut, {0})}};
  EXPECT_EQ(fault_of({zero, one}), "none");
  EXPECT_EQ(fault_of({zero, one}, Sending::kMeeting), "rank 0 is deadlocked: 0 of 2 steps are done");
}

TEST(ScheduleCheck, SeesMessagesThatDoNotMeet) {
  EXPECT_EQ(fault_of({{0, {send(1, kIn)}}, {}}), "a message was never received");
  const Schedule shorter{0, {recv(0, {Memory::kOutput, 0, 1})}};
  EXPECT_EQ(fault_of({{0, {send(1, kIn)}}, shorter}), "step 0 of rank 1 receives 2 elements, expected 1");
}

TEST(ScheduleCheck, SeesAReadOfNothing) {
  EXPECT_EQ(fault_of({{2, {copy(kTemporary, kOut)}}}),
            "step 0 of rank 0 reads elements that were never written");
  EXPECT_EQ(fault_of({{2, {combine(kIn, kTemporary)}}}),
            "step 0 of rank 0 reads elements that were never written");
}

TEST(ScheduleCheck, SeesRegionsThatAreNotThere) {
  EXPECT_EQ(fault_of(Schedule{0, {copy(kIn, kTemporary)}}), "step 0 writes outside its memory");
  EXPECT_EQ(fault_of(Schedule{0, {send(1, {Memory::kInput, 1, 2})}}), "step 0 reads outside its memory");
  EXPECT_EQ(fault_of(Schedule{0, {recv(1, kIn)}}), "step 0 writes to the input");
}

TEST(ScheduleCheck, SeesStepsInNoOrder) {
  const Schedule racing{2, {recv(1, kTemporary), copy(kTemporary, kOut)}};
  EXPECT_EQ(fault_of(racing), "steps 0 and 1 touch the same elements in no order");
  const Schedule written_twice{0, {recv(1, kOut), recv(1, kOut)}};
  EXPECT_EQ(fault_of(written_twice), "steps 0 and 1 touch the same elements in no order");
  const Schedule ordered{2, {recv(1, kTemporary), copy(kTemporary, kOut, {0}), send(1, kOut, {1})}};
  EXPECT_EQ(fault_of(ordered), "none");
  EXPECT_EQ(fault_of(Schedule{0, {copy(kIn, kOut, {0})}}), "step 0 is after step 0");
}

TEST(ScheduleCheck, SeesARaceThatIsThereOnlyInPlace) {
  const Schedule schedule{0, {send(1, kIn), recv(1, kOut)}};
  EXPECT_EQ(fault_of(schedule), "none");
  EXPECT_EQ(fault_of(schedule, {.input_count = 2, .output_count = 2, .output_in_input = 0}),
            "steps 0 and 1 touch the same elements in no order");
  EXPECT_EQ(fault_of(schedule, {.input_count = 2, .output_count = 2, .output_in_input = -2}), "none");
}

TEST(ScheduleCheck, CountsStepsOneMessageAtATime) {
  const Schedule root{0, {send(1, kIn), send(2, kIn)}};
  EXPECT_EQ(count_steps({root, {0, {recv(0, kOut)}}, {0, {recv(0, kOut)}}}), 2u);
  const Schedule middle{0, {recv(0, kOut), send(2, kOut, {0})}};
  EXPECT_EQ(count_steps({{0, {send(1, kIn)}}, middle, {0, {recv(1, kOut)}}}), 2u);
}

TEST(ScheduleCheck, KnowsWhoHasHeardOfWhom) {
  const Schedule middle{0, {recv(0, kOut), send(2, kOut, {0})}};
  Terms terms;
  const auto outcome = run_schedules(terms, {{0, {send(1, kIn)}}, middle, {0, {recv(1, kOut)}}},
                                     {kMemory, kMemory, kMemory}, {});
  EXPECT_EQ(outcome.heard_of, (std::vector<std::uint64_t>{1, 3, 7}));
}

TEST(Terms, KeepTheOrderOfOperands) {
  Terms terms;
  const auto a = terms.leaf(0, 3), b = terms.leaf(1, 3);
  EXPECT_EQ(terms.combined(a, b), terms.combined(a, b));
  EXPECT_NE(terms.combined(a, b), terms.combined(b, a));
  EXPECT_EQ(terms.text(terms.combined(terms.combined(a, b), a)), "((0.3 1.3) 0.3)");
}

}  // namespace
}  // namespace cohort::comm

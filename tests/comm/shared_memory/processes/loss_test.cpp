#include "comm/shared_memory/processes/ranks.h"

#include <csignal>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

int code(ErrorCode code) {
  return static_cast<int>(code);
}

/// Checks that rank `survivor` ended with kPeerLost, which names the last rank and its process. Returns how
/// long after `since_ns`, in milliseconds.
double expect_loss(Ranks& ranks, int survivor, std::int64_t since_ns) {
  EXPECT_EQ(ranks.wait(survivor), ExitStatus{.code = 0});
  const std::string said = ranks.said_by(survivor);
  const int last = ranks.size() - 1;
  EXPECT_EQ(number_in(said, "code"), code(ErrorCode::kPeerLost)) << said;
  EXPECT_NE(said.find(fmt::format("rank {} (process {})", last, ranks[last].pid())), std::string::npos)
      << said;
  return static_cast<double>(number_in(said, "ended") - since_ns) / 1e6;
}

class KilledDuring : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Calls, KilledDuring,
                         testing::Values("all_reduce", "work", "receive", "send", "sub_group"),
                         [](const auto& task) { return task.param; });

TEST_P(KilledDuring, ARankEndsThePendingCallsOfAllOthers) {
  for (int round = 0; round < 3; ++round) {
    Ranks ranks({.rendezvous = fresh_rendezvous(), .world = 3, .task = GetParam()});
    for (int rank = 0; rank < 3; ++rank) ranks.wait_for_line(rank, "ready");
    const std::int64_t killed = now_ns();
    ASSERT_TRUE(ranks[2].signal(SIGKILL));
    for (const int survivor : {0, 1}) {
      const double ms = expect_loss(ranks, survivor, killed);
      fmt::print("{}: rank {} knew {:.3f} ms after the kill\n", GetParam(), survivor, ms);
      EXPECT_LT(ms, 5000.0);  // far below the limit of the call, 20 s
    }
  }
}

TEST(Killed, ARankFailsNoGroupThatItIsNotIn) {
  Ranks ranks({.rendezvous = fresh_rendezvous(), .world = 3, .task = "without_the_last"});
  for (int rank = 0; rank < 3; ++rank) ranks.wait_for_line(rank, "ready");
  ASSERT_TRUE(ranks[2].signal(SIGKILL));
  for (const int survivor : {0, 1}) {
    EXPECT_EQ(ranks.wait(survivor), ExitStatus{.code = 0}) << ranks.said_by(survivor);
    EXPECT_EQ(number_in(ranks.said_by(survivor), "code"), -1) << ranks.said_by(survivor);
  }
}

TEST(Frozen, ARankIsLostWithinTheLivenessLimit) {
  for (const std::string task : {"all_reduce", "receive"}) {
    Ranks ranks({.rendezvous = fresh_rendezvous(), .world = 3, .task = task});
    for (int rank = 0; rank < 3; ++rank) ranks.wait_for_line(rank, "ready");
    const std::int64_t frozen = now_ns();
    ASSERT_TRUE(ranks[2].signal(SIGSTOP));
    for (const int survivor : {0, 1}) {
      const double ms = expect_loss(ranks, survivor, frozen);
      fmt::print("{}: rank {} knew {:.3f} ms after the freeze\n", task, survivor, ms);
      EXPECT_LT(ms, 5000.0);
    }
  }
}

TEST(Frozen, ASlowRankIsNotADeadOne) {
  Ranks ranks({.rendezvous = fresh_rendezvous(), .world = 3, .liveness = 400ms, .task = "slow"});
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ranks.wait(rank), ExitStatus{.code = 0});
    EXPECT_EQ(number_in(ranks.said_by(rank), "code"), -1) << ranks.said_by(rank);
  }
}

TEST(Processes, MissADeadlineAndNameWhoHasNotArrived) {
  Ranks ranks({.rendezvous = fresh_rendezvous(), .world = 3, .task = "deadline"});
  for (const int rank : {0, 1}) {
    EXPECT_EQ(ranks.wait(rank), ExitStatus{.code = 0});
    const std::string said = ranks.said_by(rank);
    EXPECT_EQ(number_in(said, "code"), code(ErrorCode::kTimedOut)) << said;
    EXPECT_NE(said.find("rank 2 has not arrived"), std::string::npos) << said;
  }
}

TEST(Processes, ThatCallSomethingElseAreNamed) {
  for (const auto& [what, words] :
       {std::pair("operation", "barrier"), std::pair("size", "11 f32"), std::pair("dtype", "12 i32")}) {
    Ranks ranks({.rendezvous = fresh_rendezvous(), .world = 3, .task = "mismatch", .detail = what});
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(ranks.wait(rank), ExitStatus{.code = 0});
      const std::string said = ranks.said_by(rank);
      EXPECT_EQ(number_in(said, "code"), code(ErrorCode::kUsage)) << said;
      EXPECT_NE(said.find(words), std::string::npos) << said;
    }
  }
}

TEST(Processes, AreAllEndedByAnAbort) {
  Ranks ranks({.rendezvous = fresh_rendezvous(), .world = 3, .task = "abort"});
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(ranks.wait(rank), ExitStatus{.code = 0});
    const std::string said = ranks.said_by(rank);
    EXPECT_EQ(number_in(said, "code"), code(ErrorCode::kAborted)) << said;
    EXPECT_NE(said.find("the disk is full"), std::string::npos) << said;
  }
}

// The frozen process is dead before the arena is used again; waking it changes nothing.
TEST(Fence, KillsTheFrozenBeforeTheArenaIsUsedAgain) {
  Ranks ranks({.rendezvous = fresh_rendezvous(), .world = 3, .task = "fence"});
  ranks.wait_for_line(2, "frozen");
  EXPECT_EQ(ranks.wait(2), ExitStatus{.signal = SIGKILL});
  EXPECT_FALSE(ranks[2].signal(SIGCONT)) << "no process is left to be woken";
  for (const int survivor : {0, 1}) {
    EXPECT_EQ(ranks.wait(survivor), ExitStatus{.code = 0}) << ranks.said_by(survivor);
    const std::string said = ranks.said_by(survivor);
    EXPECT_EQ(number_in(said, "code"), code(ErrorCode::kPeerLost)) << said;
    EXPECT_NE(said.find("went on\n"), std::string::npos) << said;
  }
}

TEST(Processes, MoreThanCoresGoOnTogether) {
  for (const int world : {4, 8}) {
    Ranks ranks({.rendezvous = fresh_rendezvous(), .world = world, .liveness = 2000ms, .task = "mixed"});
    for (int rank = 0; rank < world; ++rank) {
      EXPECT_EQ(ranks.wait(rank), ExitStatus{.code = 0}) << ranks.said_by(rank);
      EXPECT_EQ(number_in(ranks.said_by(rank), "code"), -1) << ranks.said_by(rank);
    }
  }
}

}  // namespace
}  // namespace cohort::test

#include "world/world.h"

#include "base/check.h"

#include <atomic>
#include <condition_variable>
#include <future>
#include <gtest/gtest.h>
#include <latch>
#include <mutex>
#include <set>
#include <stdexcept>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

constexpr int kWorlds[] = {1, 2, 5, 8};

std::size_t count_with_code(const WorldOutcome& outcome, ErrorCode code) {
  std::size_t count = 0;
  for (const Status& status : outcome.rank) count += !status && status.error().code() == code ? 1 : 0;
  return count;
}

Status wait_for_the_stop(RankContext& rank) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, rank.stop_token(), [] { return false; });
  return Error(ErrorCode::kAborted, "was stopped");
}

TEST(World, AllRanksRunAndSucceed) {
  for (const int n : kWorlds) {
    std::vector<int> seen(static_cast<std::size_t>(n), -1);
    const auto outcome = run_world(n, [&](RankContext& rank) -> Status {
      COHORT_CHECK_EQ(rank.size(), n);
      seen[static_cast<std::size_t>(rank.rank())] = rank.rank();
      rank.say("here");
      return rank.barrier();
    });
    EXPECT_WORLD_OK(outcome);
    EXPECT_EQ(outcome.rank.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(outcome.log.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(outcome.not_returned, std::vector<int>{});
    for (int i = 0; i < n; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
  }
}

TEST(World, HasAtLeastOneRank) {
  for (const int n : {0, -1})
    EXPECT_THROW((void)run_world(n, [](RankContext&) { return Status(); }), BugError);
}

TEST(World, AnErrorIsInEveryOutcome) {
  for (const int n : kWorlds) {
    const int bad = n - 1;
    const auto outcome = run_world(n, [&](RankContext& rank) -> Status {
      if (rank.rank() == bad)
        return Error(ErrorCode::kCorrupt, "the checksum differs").within("cannot load part 3");
      return wait_for_the_stop(rank);
    });
    EXPECT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.first_failed, bad);
    EXPECT_EQ(count_with_code(outcome, ErrorCode::kCorrupt), 1u);
    for (int i = 0; i < n; ++i) {
      const Error& error = outcome.rank[static_cast<std::size_t>(i)].error();
      EXPECT_EQ(error.root().message(), "the checksum differs");
      if (i == bad) continue;
      EXPECT_EQ(error.code(), ErrorCode::kAborted);
      EXPECT_EQ(error.text(), fmt::format("rank {} failed: cannot load part 3: the checksum differs", bad));
    }
  }
}

TEST(World, RanksThatHadSucceededFailWithTheWorld) {
  const auto outcome = run_world(3, [&](RankContext& rank) -> Status {
    if (rank.rank() != 1) return {};
    return rank.failure("only {} parts", 2);
  });
  for (const Status& status : outcome.rank) EXPECT_FALSE(status);
  EXPECT_TRUE(*outcome.own[0]);
  EXPECT_TRUE(*outcome.own[2]);
  EXPECT_EQ(outcome.own[1]->error().text(), "only 2 parts");
}

TEST(World, ARemedyIsInEveryOutcome) {
  const auto outcome = run_world(2, [](RankContext& rank) -> Status {
    if (rank.rank() == 0) return Error(ErrorCode::kUsage, "too few").with_remedy("Give more.");
    return wait_for_the_stop(rank);
  });
  for (const Status& status : outcome.rank) EXPECT_EQ(status.error().remedy(), "Give more.");
}

TEST(World, WhatIsThrownIsKept) {
  const auto thrown = [](const std::function<void()>& thrower) {
    const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
      if (rank.rank() == 1) thrower();
      return rank.barrier();
    });
    EXPECT_EQ(outcome.first_failed, 1);
    EXPECT_EQ(outcome.rank[0].error().code(), ErrorCode::kAborted);
    return outcome.rank[1].error();
  };
  const Error kept = thrown([] { raise(Error(ErrorCode::kUsage, "odd").within("cannot halve")); });
  EXPECT_EQ(kept.code(), ErrorCode::kUsage);
  EXPECT_EQ(kept.text(), "cannot halve: odd");
  const Error standard = thrown([] { throw std::out_of_range("index 9"); });
  EXPECT_EQ(standard.code(), ErrorCode::kBug);
  EXPECT_NE(standard.text().find("index 9"), std::string::npos);
  EXPECT_EQ(thrown([] { throw 7; }).code(), ErrorCode::kBug);
}

TEST(World, TheFirstOfTwoFailuresIsTheCause) {
  for (const int n : {2, 5, 8}) {
    std::latch together(n);
    const auto outcome = run_world(n, [&](RankContext& rank) -> Status {
      together.arrive_and_wait();
      return Error(ErrorCode::kUsage, fmt::format("of rank {}", rank.rank()));
    });
    ASSERT_TRUE(outcome.first_failed);
    const std::string words = fmt::format("of rank {}", *outcome.first_failed);
    for (const Status& status : outcome.rank) EXPECT_EQ(status.error().root().message(), words);
    EXPECT_EQ(count_with_code(outcome, ErrorCode::kUsage), 1u);
    for (int i = 0; i < n; ++i)
      EXPECT_EQ(outcome.own[static_cast<std::size_t>(i)]->error().text(), fmt::format("of rank {}", i));
  }
}

TEST(World, ADeadlineNamesExactlyTheRanksThatHang) {
  const auto outcome = run_world(5,
                                 [](RankContext& rank) -> Status {
                                   if (rank.rank() % 2 == 0) return {};
                                   return wait_for_the_stop(rank);
                                 },
                                 {.deadline = 500ms});
  EXPECT_EQ(outcome.cause->text(), "ranks 1 and 3 did not return within 500 ms");
  EXPECT_EQ(outcome.cause->code(), ErrorCode::kTimedOut);
  EXPECT_EQ(outcome.first_failed, std::nullopt);
  EXPECT_EQ(outcome.not_returned, std::vector<int>{});
  EXPECT_EQ(count_with_code(outcome, ErrorCode::kTimedOut), 2u);
  EXPECT_EQ(count_with_code(outcome, ErrorCode::kAborted), 3u);
  EXPECT_EQ(outcome.rank[0].error().root().message(), outcome.cause->message());
}

TEST(World, ARankThatIgnoresTheStopIsReportedAndKept) {
  std::promise<void> release;
  const auto gate = release.get_future().share();
  std::atomic<bool> is_through = false;
  {
    const auto outcome = run_world(3,
                                   [&](RankContext& rank) -> Status {
                                     if (rank.rank() != 2) return wait_for_the_stop(rank);
                                     gate.wait();
                                     is_through = true;
                                     return {};
                                   },
                                   {.deadline = 50ms, .grace = 500ms});
    EXPECT_EQ(outcome.not_returned, std::vector<int>{2});
    EXPECT_EQ(outcome.own[2], std::nullopt);
    EXPECT_TRUE(outcome.own[0]);
    EXPECT_EQ(outcome.rank[2].error().message(), "rank 2 still runs 500 ms after the stop");
    EXPECT_EQ(outcome.rank[2].error().code(), ErrorCode::kTimedOut);
    EXPECT_FALSE(is_through);
    release.set_value();
  }
  EXPECT_TRUE(is_through);
}

TEST(World, AFailureEndsTheBarrierOfTheOthers) {
  for (const int n : {2, 5, 8}) {
    std::atomic<int> about_to_wait = 0;
    const auto outcome = run_world(n, [&](RankContext& rank) -> Status {
      if (rank.rank() == 0) {
        COHORT_RETURN_IF_ERROR(rank.wait_for([&] { return about_to_wait == n - 1; }));
        return Error(ErrorCode::kDiskFull, "no space");
      }
      ++about_to_wait;
      return rank.barrier();
    });
    EXPECT_EQ(outcome.not_returned, std::vector<int>{});
    for (int i = 1; i < n; ++i) {
      EXPECT_EQ(outcome.own[static_cast<std::size_t>(i)]->error().text(), "rank 0 failed: no space");
    }
  }
}

TEST(World, ADeadlineEndsTheBarrier) {
  std::latch others_left(2);
  const auto outcome = run_world(3,
                                 [&](RankContext& rank) -> Status {
                                   if (rank.rank() == 0) {
                                     others_left.wait();
                                     return {};
                                   }
                                   Status status = rank.barrier();
                                   others_left.count_down();
                                   return status;
                                 },
                                 {.deadline = 50ms});
  EXPECT_EQ(outcome.not_returned, std::vector<int>{});
  EXPECT_EQ(outcome.own[1]->error().text(),
            "the world was aborted: ranks 0, 1 and 2 did not return within 50 ms");
}

TEST(World, ABarrierHoldsEveryRankBack) {
  for (const int n : kWorlds) {
    std::atomic<int> arrived = 0;
    const auto outcome = run_world(n, [&](RankContext& rank) -> Status {
      for (int round = 1; round <= 50; ++round) {
        ++arrived;
        COHORT_RETURN_IF_ERROR(rank.barrier());
        COHORT_CHECK_GE(arrived.load(), round * n);
        COHORT_CHECK_LE(arrived.load(), (round + 1) * n);
      }
      return {};
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(World, ABarrierThatARankNeverReachesFails) {
  const auto outcome = run_world(3, [](RankContext& rank) -> Status {
    if (rank.rank() == 1) return {};
    return rank.barrier();
  });
  EXPECT_EQ(outcome.cause->message(),
            "rank 1 returned without entering the barrier that other ranks wait in");
}

TEST(World, AFailedBarrierStaysFailed) {
  const auto outcome = run_world(2, [](RankContext& rank) -> Status {
    if (rank.rank() == 0) return {};
    EXPECT_FALSE(rank.barrier());
    EXPECT_FALSE(rank.barrier());
    return {};
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(World, AChangeIsSeenByWhoWaitsForIt) {
  int turn = 0;
  const auto outcome = run_world(5, [&](RankContext& rank) -> Status {
    COHORT_RETURN_IF_ERROR(rank.wait_for([&] { return turn == rank.rank(); }));
    rank.change([&] { ++turn; });
    return {};
  });
  EXPECT_WORLD_OK(outcome);
  EXPECT_EQ(turn, 5);
}

TEST(World, AFailureEndsEveryWaitForAChange) {
  const auto outcome = run_world(3, [](RankContext& rank) -> Status {
    if (rank.rank() == 2) return rank.failure("no");
    return rank.wait_for([] { return false; });
  });
  EXPECT_EQ(outcome.not_returned, std::vector<int>{});
  EXPECT_EQ(outcome.own[0]->error().code(), ErrorCode::kAborted);
}

TEST(World, TheTextShowsEveryRankAndTheLog) {
  const auto outcome = run_world(2, [](RankContext& rank) -> Status {
    rank.say(fmt::format("step of {}", rank.rank()));
    if (rank.rank() == 1) return Error(ErrorCode::kIo, "broken");
    return wait_for_the_stop(rank);
  });
  const std::string text = outcome.text();
  for (const char* part : {"rank 0: rank 1 failed: broken [aborted", "rank 1: broken [io",
                           "its own error: was stopped", "step of 0", "step of 1"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

}  // namespace
}  // namespace cohort::test

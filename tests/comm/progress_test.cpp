#include "comm/progress/progress.h"

#include "comm/group/work.h"
#include "comm/progress/relayed_doorbell.h"
#include "world/world.h"

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <latch>
#include <memory>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using comm::Completion;

class CountingTask final : public comm::Task {
 public:
  bool advance() override {
    ++num_advances;
    if (on_advance) on_advance();
    return moves;
  }
  TimePoint wanted_at() const override { return wanted; }

  std::atomic<int> num_advances = 0;
  std::atomic<bool> moves = false;
  std::function<void()> on_advance;
  TimePoint wanted = TimePoint::max();
};

// Tasks that have something left to do are advanced to their end, on the thread that stops.
TEST(Progress, StopLeavesNothingHalfDone) {
  comm::LocalDoorbell bell;
  comm::Progress progress(bell);
  CountingTask task;
  int left = 50;
  task.on_advance = [&, own = std::this_thread::get_id()] {
    if (std::this_thread::get_id() == own) task.moves = left > 0 && left-- > 0;
  };
  progress.add(task);
  progress.stop();
  EXPECT_EQ(left, 0);
  progress.remove(task);
}

TEST(Doorbell, ARingBetweenTicketAndSleepIsNotLost) {
  comm::LocalDoorbell bell;
  const std::uint32_t ticket = bell.arm();
  bell.ring();
  bell.sleep(ticket,
             std::chrono::steady_clock::now() + 1h);  // a sleep that missed the ring: a timeout of the test
  EXPECT_NE(bell.arm(), ticket);
}

// The other bell rings as soon as a thread listens to it, and the thread that arms it is slow to take its
// ticket.
TEST(Doorbell, ARelayedRingDuringArmIsNotLost) {
  struct AlwaysRung final : comm::Doorbell {
    std::uint32_t arm() override { return 0; }
    void sleep(std::uint32_t, TimePoint) override {}
    void disarm() override {}
    void ring() override {}
  };
  struct Slow final : comm::Doorbell {
    std::uint32_t arm() override {
      std::this_thread::sleep_for(30ms);
      return bell.arm();
    }
    void sleep(std::uint32_t ticket, TimePoint until) override { bell.sleep(ticket, until); }
    void disarm() override { bell.disarm(); }
    void ring() override { bell.ring(); }
    comm::LocalDoorbell bell;
  } near;
  comm::RelayedDoorbell relayed(std::make_unique<AlwaysRung>(), near);
  const std::uint32_t ticket = relayed.arm();
  relayed.sleep(ticket, std::chrono::steady_clock::now() + 5s);
  EXPECT_NE(near.bell.arm(), ticket);
  relayed.disarm();
}

TEST(Doorbell, ASleepEndsAtItsTime) {
  comm::LocalDoorbell bell;
  const TimePoint until = std::chrono::steady_clock::now() + 5ms;
  bell.sleep(bell.arm(), until);
  EXPECT_GE(std::chrono::steady_clock::now(), until);
}

TEST(Progress, AWakeAdvancesEveryTask) {
  comm::LocalDoorbell bell;
  comm::Progress progress(bell);
  CountingTask one;
  CountingTask two;
  progress.add(one);
  progress.add(two);
  for (int round = 0; round < 50; ++round) {
    const int before_one = one.num_advances;
    const int before_two = two.num_advances;
    progress.wake();
    while (one.num_advances == before_one || two.num_advances == before_two) std::this_thread::yield();
  }
  progress.remove(one);
  progress.remove(two);
  EXPECT_GE(one.num_advances, 50);
  EXPECT_GE(two.num_advances, 50);
}

TEST(Progress, ATaskIsAskedWhenItWantsToBe) {
  comm::LocalDoorbell bell;
  comm::Progress progress(bell);
  CountingTask task;
  std::latch again(1);
  const TimePoint wanted = std::chrono::steady_clock::now() + 30ms;
  task.wanted = wanted;
  task.on_advance = [&] {
    if (std::chrono::steady_clock::now() < wanted || task.wanted == TimePoint::max()) return;
    task.wanted = TimePoint::max();
    again.count_down();
  };
  progress.add(task);
  again.wait();  // the wanted time wakes the thread, no bell rings
  progress.remove(task);
  EXPECT_LT(task.num_advances, 5000) << "the thread slept: a thread that spins comes to ten times as many";
}

TEST(Progress, ARemovedTaskIsNotBeingAdvanced) {
  comm::LocalDoorbell bell;
  comm::Progress progress(bell);
  for (int round = 0; round < 200; ++round) {
    CountingTask task;
    std::atomic<bool> is_inside = false;
    task.moves = true;
    task.on_advance = [&] {
      is_inside = true;
      for (int i = 0; i < 10; ++i) std::this_thread::yield();
      is_inside = false;
    };
    progress.add(task);
    if (round % 2 == 0) {
      while (task.num_advances == 0) std::this_thread::yield();
    }
    progress.remove(task);
    const int num_advances = task.num_advances;
    ASSERT_FALSE(is_inside);
    for (int i = 0; i < 10; ++i) std::this_thread::yield();
    ASSERT_EQ(task.num_advances, num_advances);
  }
}

TEST(Progress, ManyThreadsAddAndRemove) {
  comm::LocalDoorbell bell;
  comm::Progress progress(bell);
  const auto outcome = run_world(4, [&](RankContext&) -> Status {
    for (int round = 0; round < 100; ++round) {
      CountingTask task;
      progress.add(task);
      progress.wake();
      while (task.num_advances < 2) {
        progress.wake();
        std::this_thread::yield();
      }
      progress.remove(task);
    }
    return {};
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Progress, NothingIsAdvancedWhenItIsGone) {
  CountingTask task;
  task.moves = true;  // the thread continues without a ring
  comm::LocalDoorbell bell;
  {
    comm::Progress progress(bell);
    progress.add(task);
    while (task.num_advances == 0) std::this_thread::yield();
  }
  const int num_advances = task.num_advances;
  std::this_thread::sleep_for(20ms);  // a thread that was not stopped would run now
  EXPECT_EQ(task.num_advances, num_advances);
}

TEST(Work, TheFirstOutcomeCounts) {
  const auto completion = std::make_shared<Completion>(TimePoint::max());
  const comm::Work work(completion);
  EXPECT_FALSE(work.is_done());
  completion->settle(Error(ErrorCode::kIo, "first"));
  completion->settle({});
  EXPECT_TRUE(work.is_done());
  EXPECT_EQ(work.wait().error().message(), "first");
}

TEST(Work, AWaitEndsAtItsDeadline) {
  const auto completion = std::make_shared<Completion>(TimePoint::max());
  const comm::Work work(completion);
  EXPECT_EQ(work.wait_until(std::chrono::steady_clock::now()).error().code(), ErrorCode::kTimedOut);
  EXPECT_EQ(work.wait_until(std::chrono::steady_clock::now() + 2ms).error().code(), ErrorCode::kTimedOut);
  completion->settle({});
  EXPECT_TRUE(work.wait());
}

TEST(Work, ACallbackAfterTheEndIsCalledAtOnce) {
  const comm::Work work = comm::Work::finished(Error(ErrorCode::kIo, "gone"));
  int calls = 0;
  work.then([&](const Status& status) {
    EXPECT_EQ(status.error().message(), "gone");
    ++calls;
  });
  EXPECT_EQ(calls, 1);
}

TEST(Work, ACallbackMayAddAnother) {
  const auto completion = std::make_shared<Completion>(TimePoint::max());
  const comm::Work work(completion);
  int calls = 0;
  work.then([&](const Status&) { work.then([&](const Status&) { ++calls; }); });
  completion->settle({});
  EXPECT_EQ(calls, 1);
}

// Threads settle, wait and add callbacks at the same time: all see the same outcome, and every callback runs
// once.
TEST(Work, RacesEndWithOneOutcome) {
  for (int round = 0; round < 100; ++round) {
    const auto completion = std::make_shared<Completion>(TimePoint::max());
    const comm::Work work(completion);
    std::atomic<int> num_callbacks = 0;
    std::vector<std::string> seen(6);
    const auto outcome = run_world(6, [&](RankContext& rank) -> Status {
      auto& own = seen[static_cast<std::size_t>(rank.rank())];
      COHORT_RETURN_IF_ERROR(rank.barrier());
      if (rank.rank() < 2) {
        completion->settle(Error(ErrorCode::kIo, fmt::format("outcome of {}", rank.rank())));
      } else if (rank.rank() < 4) {
        work.then([&](const Status&) { ++num_callbacks; });
      }
      own = work.wait_until(rank.deadline()).error().message();
      return {};
    });
    ASSERT_WORLD_OK(outcome);
    EXPECT_EQ(num_callbacks, 2);
    for (const std::string& text : seen) EXPECT_EQ(text, seen[0]);
  }
}

}  // namespace
}  // namespace cohort::test

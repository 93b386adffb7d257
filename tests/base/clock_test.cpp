#include "base/clock.h"

#include <gtest/gtest.h>
#include <thread>

namespace cohort {
namespace {

using namespace std::chrono_literals;

TEST(RealClock, DoesNotGoBack) {
  const RealClock clock;
  const TimePoint before = clock.now();
  EXPECT_LE(before, clock.now());
}

TEST(RealClock, SleepsUntilTheDeadline) {
  RealClock clock;
  const TimePoint deadline = clock.now() + 5ms;
  EXPECT_TRUE(clock.sleep_until(deadline));
  EXPECT_GE(clock.now(), deadline);
}

TEST(RealClock, AStopEndsTheSleep) {
  RealClock clock;
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(clock.sleep_until(clock.now() + 1h, stop.get_token()));
}

TEST(Deadline, DoesNotOverflow) {
  const TimePoint now = TimePoint{} + 5s;
  EXPECT_EQ(deadline_after(now, 1s), TimePoint{} + 6s);
  EXPECT_EQ(deadline_after(now, std::chrono::nanoseconds::max()), TimePoint::max());
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock;
  const TimePoint start = clock.now();
  EXPECT_EQ(clock.now(), start);
  clock.advance(3s);
  EXPECT_EQ(clock.now() - start, 3s);
}

TEST(ManualClock, WakesSleepersAtTheirDeadline) {
  ManualClock clock;
  const TimePoint deadline = clock.now() + 10s;
  bool reached = false;
  std::jthread sleeper([&] { reached = clock.sleep_until(deadline); });
  while (clock.sleepers() == 0) std::this_thread::yield();
  clock.advance(9s);
  EXPECT_EQ(clock.sleepers(), 1);
  clock.advance(1s);
  sleeper.join();
  EXPECT_TRUE(reached);
  EXPECT_EQ(clock.sleepers(), 0);
}

TEST(ManualClock, AStopEndsTheSleep) {
  ManualClock clock;
  std::stop_source stop;
  bool reached = true;
  std::jthread sleeper([&] { reached = clock.sleep_until(clock.now() + 10s, stop.get_token()); });
  while (clock.sleepers() == 0) std::this_thread::yield();
  stop.request_stop();
  sleeper.join();
  EXPECT_FALSE(reached);
}

TEST(FaultyClock, Drifts) {
  ManualClock truth;
  const FaultyClock fast(truth, {.rate = 1.5});
  const TimePoint start = fast.now();
  truth.advance(10s);
  EXPECT_EQ(fast.now() - start, 15s);
}

TEST(FaultyClock, SleepsInItsOwnTime) {
  ManualClock truth;
  FaultyClock fast(truth, {.rate = 2.0});
  std::jthread sleeper([&] { fast.sleep_until(fast.now() + 10s); });
  while (truth.sleepers() == 0) std::this_thread::yield();
  truth.advance(5s);
  sleeper.join();
}

TEST(FaultyClock, ItsDateJumpsAndItsTimeDoesNot) {
  ManualClock truth;
  FaultyClock clock(truth, {.wall_offset = 1h});
  EXPECT_EQ(clock.wall() - truth.wall(), 1h);
  const TimePoint before = clock.now();
  clock.jump_wall(-2h);
  EXPECT_EQ(clock.wall() - truth.wall(), -1h);
  EXPECT_EQ(clock.now(), before);
}

}  // namespace
}  // namespace cohort

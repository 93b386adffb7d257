#include "base/clock.h"

#include "base/faulty_clock.h"
#include "base/manual_clock.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

using namespace std::chrono_literals;

TEST(RealClock, ShowsTheTimeOfTheOperatingSystem) {
  const RealClock clock;
  const TimePoint before = std::chrono::steady_clock::now();
  const TimePoint now = clock.now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, std::chrono::steady_clock::now());
  const WallTime wall_before = std::chrono::system_clock::now();
  EXPECT_LE(std::chrono::abs(clock.wall() - wall_before), 1h);
}

TEST(Deadline, DoesNotOverflow) {
  const TimePoint now = TimePoint{} + 5s;
  EXPECT_EQ(deadline_after(now, 1s), TimePoint{} + 6s);
  EXPECT_EQ(deadline_after(now, std::chrono::nanoseconds::max()), TimePoint::max());
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock(TimePoint{} + 5s, WallTime{} + 1h);
  EXPECT_EQ(clock.now(), TimePoint{} + 5s);
  clock.advance(3s);
  EXPECT_EQ(clock.now(), TimePoint{} + 8s);
  EXPECT_EQ(clock.wall(), WallTime{} + 1h + 3s);
}

TEST(FaultyClock, Drifts) {
  ManualClock truth;
  const FaultyClock fast(truth, {.rate = 1.5});
  const TimePoint start = fast.now();
  truth.advance(10s);
  EXPECT_EQ(fast.now() - start, 15s);
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

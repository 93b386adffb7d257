#include "comm/shared_memory/doorbell.h"

#include "comm/shared_memory/arena.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>

namespace cohort::test {
namespace {

using comm::ArenaDoorbell;
using namespace std::chrono_literals;

TimePoint far_away() {
  return std::chrono::steady_clock::now() + 15s;
}

/// Waits until `condition` holds and sleeps at the doorbell in between; returns the number of checks.
template <class Condition>
int looks_until(ArenaDoorbell& doorbell, Condition condition) {
  int looks = 0;
  while (true) {
    const std::uint32_t ticket = doorbell.arm();
    ++looks;
    const bool holds = condition();
    if (!holds) doorbell.sleep(ticket, far_away());
    doorbell.disarm();
    if (holds) return looks;
  }
}

TEST(ArenaDoorbell, ARingBetweenArmAndSleepIsNotLost) {
  const auto arena = value_or_throw(Arena::create(1 << 20));
  ArenaDoorbell doorbell(arena->header());
  // A sleep that missed its ring would last 50 ms: a thousand of them nearly a minute.
  const TimePoint begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t ticket = doorbell.arm();
    doorbell.ring();
    doorbell.sleep(ticket, far_away());
    doorbell.disarm();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  EXPECT_EQ(arena->header().sleepers.load(), 0U);
}

TEST(ArenaDoorbell, RingsOnlyWhereSomebodySleeps) {
  const auto arena = value_or_throw(Arena::create(1 << 20));
  ArenaDoorbell doorbell(arena->header());
  const std::uint32_t before = arena->header().doorbell.load();
  comm::ring_if_asleep(arena->header());
  EXPECT_EQ(arena->header().doorbell.load(), before);
  const std::uint32_t ticket = doorbell.arm();
  comm::ring_if_asleep(arena->header());
  EXPECT_NE(arena->header().doorbell.load(), ticket);
  doorbell.disarm();
}

// Two threads wait for each other in turn, each at its own doorbell, as members of a group do.
TEST(ArenaDoorbell, AValuePublishedBeforeTheRingIsSeenAfterIt) {
  const auto ping = value_or_throw(Arena::create(1 << 20));
  const auto pong = value_or_throw(Arena::create(1 << 20));
  constexpr int kRounds = 3000;
  std::atomic<int> turn{0};
  const auto publish = [](std::atomic<int>& value, int next, comm::ArenaHeader& other) {
    value.store(next, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    comm::ring_if_asleep(other);
  };
  const TimePoint begin = std::chrono::steady_clock::now();
  {
    const std::jthread other([&] {
      ArenaDoorbell doorbell(pong->header());
      for (int i = 0; i < kRounds; ++i) {
        looks_until(doorbell, [&] { return turn.load(std::memory_order_acquire) == 2 * i + 1; });
        publish(turn, 2 * i + 2, ping->header());
      }
    });
    ArenaDoorbell doorbell(ping->header());
    for (int i = 0; i < kRounds; ++i) {
      publish(turn, 2 * i + 1, pong->header());
      looks_until(doorbell, [&] { return turn.load(std::memory_order_acquire) == 2 * i + 2; });
    }
  }
  // With every ring lost, this would take five minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

/// The shortest of several sleeps that nothing rings, each until `wait` from its beginning: a busy machine
/// delays some of them, not all.
std::chrono::nanoseconds shortest_sleep(ArenaDoorbell& doorbell, std::chrono::nanoseconds wait) {
  std::chrono::nanoseconds shortest = 1h;
  for (int i = 0; i < 20; ++i) {
    const TimePoint begin = std::chrono::steady_clock::now();
    doorbell.sleep(doorbell.arm(), begin + wait);
    doorbell.disarm();
    shortest = std::min<std::chrono::nanoseconds>(shortest, std::chrono::steady_clock::now() - begin);
  }
  return shortest;
}

TEST(ArenaDoorbell, WakesAtTheTimeThatWasAskedFor) {
  const auto arena = value_or_throw(Arena::create(1 << 20));
  ArenaDoorbell doorbell(arena->header());
  const auto asked = shortest_sleep(doorbell, 3ms);
  EXPECT_GE(asked, 2ms);
  EXPECT_LT(asked, 25ms);  // the longest sleep without a check is 50 ms
  EXPECT_LT(shortest_sleep(doorbell, -1s), 1ms);
}

}  // namespace
}  // namespace cohort::test

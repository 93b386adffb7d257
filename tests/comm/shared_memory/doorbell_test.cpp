#include "comm/shared_memory/doorbell.h"

#include "comm/shared_memory/arena.h"

#include <gtest/gtest.h>
#include <thread>

namespace cohort::test {
namespace {

using comm::ArenaDoorbell;
using namespace std::chrono_literals;

TimePoint far_away() {
  return std::chrono::steady_clock::now() + 15s;
}

/// The number of looks until `condition` holds, sleeping at the bell in between.
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
  // A sleep that missed its ring would last until the longest nap is over: a thousand of them, a minute.
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

// Two that wait for each other's turn, each at its own bell, as members of a group do.
TEST(ArenaDoorbell, WhatIsPublishedBeforeTheRingIsSeenBehindIt) {
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
  // With every ring lost it would be five minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

TEST(ArenaDoorbell, WakesAtTheTimeThatWasAskedFor) {
  const auto arena = value_or_throw(Arena::create(1 << 20));
  ArenaDoorbell doorbell(arena->header());
  const TimePoint until = std::chrono::steady_clock::now() + 3ms;
  while (std::chrono::steady_clock::now() < until) {
    const std::uint32_t ticket = doorbell.arm();
    doorbell.sleep(ticket, until);
    doorbell.disarm();
  }
  doorbell.sleep(doorbell.arm(), std::chrono::steady_clock::now() - 1s);  // returns at once
  doorbell.disarm();
}

}  // namespace
}  // namespace cohort::test

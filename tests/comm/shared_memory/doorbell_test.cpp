#include "comm/shared_memory/doorbell.h"

#include "comm/shared_memory/arena.h"

#include <algorithm>
#include <cerrno>
#include <gtest/gtest.h>
#include <thread>

namespace cohort::test {
namespace {

using comm::ArenaDoorbell;
using namespace std::chrono_literals;

TimePoint far_away() {
  return std::chrono::steady_clock::now() + 15s;
}

/// Whether the bell is rung after `ticket` was taken. The ring may come a little after the value it is for.
bool is_rung(const comm::ArenaHeader& header, std::uint32_t ticket) {
  for (const TimePoint end = far_away(); std::chrono::steady_clock::now() < end; std::this_thread::yield()) {
    if (header.doorbell.load() != ticket) return true;
  }
  return false;
}

/// Waits until `condition` holds and sleeps at the doorbell in between. False if the condition came to hold
/// during a sleep and no ring followed.
template <class Condition>
[[nodiscard]] bool sleeps_until(comm::ArenaHeader& header, Condition condition) {
  ArenaDoorbell doorbell(header);
  while (true) {
    const std::uint32_t ticket = doorbell.arm();
    bool holds = condition();
    bool missed = false;
    if (!holds) {
      doorbell.sleep(ticket, far_away());
      holds = condition();
      missed = holds && !is_rung(header, ticket);
    }
    doorbell.disarm();
    if (holds) return !missed;
  }
}

TEST(ArenaDoorbell, ARingBetweenArmAndSleepIsNotLost) {
  const auto arena = value_or_throw(Arena::create(1 << 20));
  ArenaDoorbell doorbell(arena->header());
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t ticket = doorbell.arm();
    doorbell.ring();
    errno = 0;
    doorbell.sleep(ticket, far_away());
    EXPECT_NE(errno, ETIMEDOUT) << "the system call of a sleep that missed its ring";
    doorbell.disarm();
  }
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
  std::atomic<int> num_missed{0};
  {
    const std::jthread other([&] {
      for (int i = 0; i < kRounds && num_missed == 0; ++i) {
        const auto is_my_turn = [&] { return turn.load(std::memory_order_acquire) == 2 * i + 1; };
        if (!sleeps_until(pong->header(), is_my_turn)) ++num_missed;
        publish(turn, 2 * i + 2, ping->header());
      }
    });
    for (int i = 0; i < kRounds && num_missed == 0; ++i) {
      publish(turn, 2 * i + 1, pong->header());
      const auto is_my_turn = [&] {
        return turn.load(std::memory_order_acquire) == 2 * i + 2 || num_missed > 0;
      };
      if (!sleeps_until(ping->header(), is_my_turn)) ++num_missed;
    }
    turn = 2 * kRounds - 1;  // ends the other thread if this one has given up
  }
  EXPECT_EQ(num_missed, 0) << "rings that no thread heard";
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

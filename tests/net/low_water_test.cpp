#include "net/low_water.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using net::LowWater;

constexpr std::size_t kMuch = std::size_t{8} << 20;

std::size_t mark_at(std::size_t got, std::chrono::nanoseconds elapsed, std::size_t num_left = kMuch) {
  return LowWater::mark_for(LowWater::come_soon(got, elapsed), num_left);
}

TEST(LowWater, IsWhatComesSoon) {
  EXPECT_EQ(mark_at(1448, 58us), 32u << 10) << "200 Mbit/s";
  EXPECT_EQ(mark_at(1448, 232us), 8u << 10) << "50 Mbit/s";
  EXPECT_EQ(mark_at(1448, 2ms), 1u) << "6 Mbit/s: every packet";
  EXPECT_EQ(mark_at(1 << 20, 0us), LowWater::kMost) << "a fast network";
  EXPECT_EQ(mark_at(0, 1s), 1u);
}

TEST(LowWater, NeverWaitsForMoreThanComes) {
  for (std::size_t left = 0; left < 300'000; left += 997) {
    const std::size_t mark = mark_at(1 << 20, 1us, left);
    EXPECT_TRUE(mark == 1 || mark + 16'406 <= left) << left;
  }
}

/// A socket, and its low-water mark in the kernel.
struct Socket {
  Socket() : number(::socket(AF_INET, SOCK_STREAM, 0)) {}
  ~Socket() { ::close(number); }
  int mark() const {
    int value = 0;
    socklen_t size = sizeof value;
    EXPECT_EQ(::getsockopt(number, SOL_SOCKET, SO_RCVLOWAT, &value, &size), 0);
    return value;
  }
  const int number;
};

TEST(LowWater, TellsTheKernelAndLooksByTime) {
  const Socket socket;
  LowWater water(socket.number);
  TimePoint now{1s};
  EXPECT_TRUE(water.settle(64, 0, now)) << "nothing has changed";
  EXPECT_EQ(water.look_at(), TimePoint::max());
  now += 58us;
  EXPECT_FALSE(water.settle(1448, kMuch, now)) << "bytes may have come before the kernel knew";
  EXPECT_EQ(socket.mark(), 32 << 10);
  EXPECT_EQ(water.look_at(), now + 10ms);
  EXPECT_TRUE(water.settle(0, kMuch, now += 1us)) << "an empty read tells nothing about the network";
  EXPECT_EQ(socket.mark(), 32 << 10);
  now += 1300us;
  EXPECT_TRUE(water.settle(32 << 10, kMuch, now));
  EXPECT_FALSE(water.settle(500, kMuch, now += 10ms)) << "it has become slow";
  EXPECT_EQ(socket.mark(), 1);
  EXPECT_FALSE(water.settle(32 << 10, kMuch, now += 1300us));
  now += 1300us;
  EXPECT_FALSE(water.settle(32 << 10, 100, now)) << "near the end of a message every byte counts";
  EXPECT_EQ(socket.mark(), 1);
  EXPECT_EQ(water.look_at(), TimePoint::max());
}

}  // namespace
}  // namespace cohort::test

#include "net/pace.h"

#include "net/socket.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using net::Pace;
using net::PacedSocket;

constexpr double kRate = 20e6;
constexpr std::uint64_t kMany = std::uint64_t{1} << 20;

TEST(Pace, IsSharedByThoseThatAreBusy) {
  Pace pace;
  EXPECT_FALSE(pace.is_set());
  pace.set(kRate);
  EXPECT_TRUE(pace.is_set());
  EXPECT_EQ(pace.share(), kRate) << "the first connection gets all of it";
  pace.add_busy();
  EXPECT_EQ(pace.share(), kRate);
  pace.add_busy();
  pace.add_busy();
  EXPECT_EQ(pace.share(), kRate / 3);
  pace.remove_busy();
  EXPECT_EQ(pace.share(), kRate / 2);
}

TEST(Pace, RisesWhereNothingWaitsAndFallsBackWhereItDoes) {
  Pace pace;
  pace.set(kRate);
  TimePoint now{};
  const auto after = [&](std::chrono::nanoseconds waited, int times) {
    for (int i = 0; i < times; ++i) pace.waited(waited, now += 20ms);
    return pace.share();
  };
  EXPECT_NEAR(after(0ms, 1), 1.05 * kRate, 1e-6 * kRate);
  EXPECT_GT(after(0ms, 30), 2 * kRate) << "the limit recovers from a measurement that was too low";
  const double high = pace.share();
  EXPECT_LT(after(10ms, 1), high);
  EXPECT_EQ(after(10ms, 200), kRate) << "never below what the link has carried";
}

TEST(Pace, IsChangedOnceInAnInterval) {
  Pace pace;
  pace.set(kRate);
  const TimePoint now{1s};
  pace.waited(0ms, now);
  const double once = pace.share();
  pace.waited(0ms, now + 1ms);
  pace.waited(2ms, now + 1s);
  EXPECT_EQ(pace.share(), once) << "too soon, and neither short nor long";
  pace.waited(0ms, now + 1s);
  EXPECT_GT(pace.share(), once);
}

TEST(Pace, RestsAfterItHasFallen) {
  Pace pace;
  pace.set(kRate);
  TimePoint now{1s};
  for (int i = 0; i < 10; ++i) pace.waited(0ms, now += 20ms);
  const double high = pace.share();
  pace.waited(5ms, now += 20ms);
  const double fallen = pace.share();
  EXPECT_NEAR(fallen, 0.95 * high, 1e-6 * high);
  pace.waited(5ms, now + 50ms);
  EXPECT_EQ(pace.share(), fallen) << "a queue needs time to drain";
  pace.waited(0ms, now + 1900ms);
  EXPECT_EQ(pace.share(), fallen);
  pace.waited(0ms, now + 2100ms);
  EXPECT_GT(pace.share(), fallen);
}

/// Two ends of a connection.
struct Ends {
  Ends() {
    const Descriptor listener = value_or_throw(net::listen_at(*net::SocketAddress::parse("127.0.0.1:0")));
    near = value_or_throw(net::begin_connect(value_or_throw(net::local_address(listener))));
    pollfd poll{.fd = listener.number(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&poll, 1, 10000), 1);
    far = value_or_throw(net::accept_one(listener));
  }
  std::uint64_t pacing_rate() const {
    std::uint64_t rate = 0;
    socklen_t size = sizeof rate;
    EXPECT_EQ(::getsockopt(near.number(), SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &size), 0);
    return rate;
  }
  Descriptor near, far;
};

TEST(PacedSocket, KeepsToItsShare) {
  const Ends ends;
  const RealClock clock;
  Pace pace;
  PacedSocket socket(pace, ends.near.number());
  const std::uint64_t free = ends.pacing_rate();
  socket.has_more(kMany, clock);
  EXPECT_EQ(ends.pacing_rate(), free) << "no limit is set yet";
  pace.set(kRate);
  socket.has_more(kMany, clock);
  EXPECT_EQ(ends.pacing_rate(), static_cast<std::uint64_t>(kRate));
  pace.add_busy();
  socket.has_more(kMany, clock);
  EXPECT_EQ(ends.pacing_rate(), static_cast<std::uint64_t>(kRate / 2));
}

TEST(PacedSocket, IsCountedWhileItIsBusy) {
  const Ends ends;
  const RealClock clock;
  Pace pace;
  pace.set(kRate);
  pace.add_busy();
  {
    PacedSocket socket(pace, ends.near.number());
    socket.has_more(kMany, clock);
    socket.has_more(kMany, clock);
    EXPECT_EQ(pace.share(), kRate / 2);
    socket.has_sent_all();
    EXPECT_EQ(pace.share(), kRate);
    socket.has_more(kMany, clock);
  }
  EXPECT_EQ(pace.share(), kRate) << "a connection that broke is not busy";
}

TEST(PacedSocket, FewBytesTakeNothingFromOthers) {
  const Ends ends;
  const RealClock clock;
  Pace pace;
  pace.set(kRate);
  pace.add_busy();
  PacedSocket socket(pace, ends.near.number());
  socket.has_more(64, clock);
  EXPECT_EQ(pace.share(), kRate);
  socket.has_more(kMany, clock);
  socket.has_more(64, clock);
  EXPECT_EQ(pace.share(), kRate / 2) << "still busy until everything is sent";
}

}  // namespace
}  // namespace cohort::test

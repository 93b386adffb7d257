#include "comm/exchange/exchange.h"
#include "comm/exchange_member.h"
#include "comm/networks/faulty.h"
#include "comm/networks/simulated.h"
#include "soak.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <utility>

namespace cohort::test {
namespace {

using comm::Channel;
using comm::Exchange;
using comm::FrameHeader;
using comm::LinkFacts;
using comm::SimulatedNetwork;
using namespace std::chrono_literals;

constexpr TimePoint kStart{};
constexpr int kVictim = 1;  // the member that dies or freezes, in tests where one does

/// Exchanges on a simulated network, driven by hand on this thread.
class Simulation {
 public:
  struct Options {
    std::uint64_t seed = 1;
    LinkFacts link{};
    comm::TransportFaults faults{};
    Exchange::Options exchange{};
  };

  explicit Simulation(int n, Options options) : network_(n, {.seed = options.seed, .link = options.link}) {
    options.faults.seed = options.seed;
    for (int member = 0; member < n; ++member) {
      comm::TransportFaults faults = options.faults;
      if (member != kVictim) faults.die_at = faults.freeze_at = std::nullopt;
      auto transport = std::make_unique<comm::FaultyTransport>(network_.take(member), faults);
      members_.push_back(
          std::make_unique<Exchange>(std::move(transport), network_.clock(), options.exchange));
      members_.back()->open(doorbell_);
      network_.add(*members_.back());
    }
  }

  SimulatedNetwork& network() { return network_; }
  Exchange& member(int i) { return *members_[static_cast<std::size_t>(i)]; }
  std::chrono::nanoseconds elapsed() { return network_.clock().now() - kStart; }
  void note(const std::string& what) { trace_ += fmt::format("{} {}\n", elapsed().count(), what); }
  const std::string& trace() const { return trace_; }

 private:
  comm::LocalDoorbell doorbell_;
  SimulatedNetwork network_;
  std::vector<std::unique_ptr<Exchange>> members_;
  std::string trace_;
};

// 1000 bytes and the 64 of the header at 1064 bytes per second take a second.
TEST(Simulation, TimeIsThatOfTheFormula) {
  Simulation simulation(2, {.link = {.latency = 50ms, .bytes_per_second = 1064}});
  const std::vector<std::byte> payload = pattern(1000, 1);
  std::vector<std::byte> into(1000);
  std::vector<std::chrono::nanoseconds> arrivals;
  for (std::uint64_t i = 0; i < 3; ++i) {
    simulation.member(0).send(1, {.number = i}, payload, {});
    simulation.member(1).recv(0, {.number = i}, into, [&](const Status& status) {
      EXPECT_TRUE(status);
      arrivals.push_back(simulation.elapsed());
    });
  }
  simulation.network().run_until_idle();
  EXPECT_EQ(arrivals, (std::vector<std::chrono::nanoseconds>{1050ms, 2050ms, 3050ms}))
      << "messages of one link leave one after the other";
  EXPECT_EQ(into, payload);
}

TEST(Simulation, LinksDifferByDirection) {
  Simulation simulation(2, {.link = {.latency = 1ms, .bytes_per_second = 1e15}});
  simulation.network().set_link(1, 0, {.latency = 7ms, .bytes_per_second = 1e15});
  std::vector<std::byte> into;
  std::vector<std::chrono::nanoseconds> arrivals;
  for (const int from : {0, 1}) {
    simulation.member(from).send(1 - from, {}, {}, {});
    simulation.member(1 - from).recv(from, {}, into,
                                     [&](const Status&) { arrivals.push_back(simulation.elapsed()); });
  }
  simulation.network().run_until_idle();
  EXPECT_EQ(arrivals, (std::vector<std::chrono::nanoseconds>{1ms, 7ms}));
}

TEST(Simulation, ALostMessageComesLaterAndTheOrderStays) {
  Simulation simulation(2, {.link = {.latency = 1ms,
                                     .bytes_per_second = 1e15,
                                     .loss = 0.5,
                                     .retransmit_after = 10ms,
                                     .losses_cap = 100}});
  std::vector<std::uint64_t> order;
  int num_late = 0;
  simulation.member(1).handle(Channel::kMessage, 0,
                              [&](int, const FrameHeader& header, const std::vector<std::byte>&) {
                                order.push_back(header.number);
                                if (simulation.elapsed() >= 11ms) ++num_late;
                              });
  for (std::uint64_t i = 0; i < 50; ++i) simulation.member(0).send(1, {.number = i}, {}, {});
  simulation.network().run_until_idle();
  std::vector<std::uint64_t> expected(50);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
  EXPECT_GT(num_late, 0);
}

TEST(Simulation, TooManyLossesEndTheLink) {
  Simulation simulation(3, {.link = {.latency = 1ms}});
  simulation.network().set_link(0, 1, {.latency = 1ms, .loss = 1, .retransmit_after = 10ms, .losses_cap = 4});
  std::vector<std::string> told;
  for (int member = 0; member < 3; ++member) {
    simulation.member(member).on_loss([&, member](int lost, const Error&) {
      told.push_back(fmt::format("{} lost {} after {} ms", member, lost, simulation.elapsed() / 1ms));
    });
  }
  Status sent;
  simulation.member(0).send(1, {}, {}, [&](const Status& status) { sent = status; });
  simulation.network().run_until_idle();
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code(), ErrorCode::kPeerLost);
  EXPECT_EQ(told, (std::vector<std::string>{"0 lost 1 after 41 ms", "1 lost 0 after 42 ms"}));
}

TEST(Simulation, AMemberThatLeavesIsNoticedOneLatencyLater) {
  Simulation simulation(2, {.link = {.latency = 30ms, .bytes_per_second = 1e15}});
  std::vector<std::byte> into(4);
  std::vector<std::string> seen;
  simulation.member(1).recv(0, {.number = 1}, into, [&](const Status& status) {
    seen.push_back(fmt::format("{} at {} ms", status ? "message" : "failure", simulation.elapsed() / 1ms));
  });
  simulation.member(1).recv(0, {.number = 2}, into, [&](const Status& status) {
    seen.push_back(fmt::format("{} at {} ms", status ? "message" : "failure", simulation.elapsed() / 1ms));
  });
  simulation.member(0).send(1, {.number = 1}, into, {});
  simulation.network().run_until(kStart + 10ms);
  simulation.member(0).close();
  simulation.network().run_until_idle();
  EXPECT_EQ(seen, (std::vector<std::string>{"message at 30 ms", "failure at 40 ms"}))
      << "messages in flight still arrive";
}

TEST(Simulation, SilenceIsCountedInVirtualTime) {
  Simulation simulation(2, {.link = {.latency = 1ms}, .exchange = {.liveness = 500ms}});
  simulation.network().set_link(1, 0, {.latency = 1h});
  simulation.member(0).watch();
  simulation.network().run_until(kStart + 440ms);
  EXPECT_FALSE(simulation.member(0).loss(1));
  simulation.network().run_until(kStart + 510ms);
  ASSERT_TRUE(simulation.member(0).loss(1));
  EXPECT_EQ(simulation.member(0).loss(1)->message(), "member 1 gave no sign of life for 500 ms");
}

TEST(Simulation, AFrozenMemberIsDetected) {
  Simulation simulation(
      3, {.link = {.latency = 1ms}, .faults = {.freeze_at = 20}, .exchange = {.liveness = 100ms}});
  simulation.member(0).watch();
  for (std::uint64_t i = 0; i < 20; ++i) simulation.member(1).send(2, {.number = i}, {}, {});
  simulation.network().run_until(kStart + 50ms);
  EXPECT_FALSE(simulation.member(0).loss(1));
  simulation.network().run_until(kStart + 130ms);
  EXPECT_TRUE(simulation.member(0).loss(1));
  EXPECT_FALSE(simulation.member(0).loss(2));
}

/// A ring of messages with random faults: every receive ends, with the right bytes or with kPeerLost.
struct RingResult {
  int num_right = 0;
  int num_lost = 0;
  int num_wrong = 0;
  std::string trace{};
};

RingResult run_ring(int n, std::uint64_t seed, comm::TransportFaults faults, double loss) {
  constexpr std::uint64_t kRounds = 12;
  Simulation simulation(n, {.seed = seed,
                            .link = {.latency = 1ms, .loss = loss, .retransmit_after = 3ms, .losses_cap = 4},
                            .faults = faults,
                            .exchange = {.liveness = 100ms}});
  RingResult result;
  std::vector<int> leaving;
  const auto payload_of = [&](int from, std::uint64_t round) {
    return pattern(37 * round, seed + static_cast<std::uint64_t>(from) * 100 + round);
  };
  std::vector<std::vector<std::vector<std::byte>>> outs(static_cast<std::size_t>(n));
  std::vector<std::vector<std::vector<std::byte>>> ins(static_cast<std::size_t>(n));
  // Each member starts the next round when it has received its message.
  std::function<void(int, std::uint64_t)> play = [&](int me, std::uint64_t round) {
    if (round == kRounds) return;
    const auto i = static_cast<std::size_t>(me);
    const int from = (me + n - 1) % n;
    simulation.member(me).send((me + 1) % n, {.channel = Channel::kCollective, .number = round},
                               outs[i][round], {});
    simulation.member(me).recv(
        from, {.channel = Channel::kCollective, .number = round}, ins[i][round],
        [&, me, i, from, round](const Status& status) {
          simulation.note(fmt::format("{} round {} {}", me, round, status ? "fine" : status.error().text()));
          if (!status) {
            leaving.push_back(me);
            ++(status.error().code() == ErrorCode::kPeerLost ? result.num_lost : result.num_wrong);
          } else {
            ++(ins[i][round] == payload_of(from, round) ? result.num_right : result.num_wrong);
            play(me, round + 1);
          }
        });
  };
  for (int me = 0; me < n; ++me) {
    const auto i = static_cast<std::size_t>(me);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      outs[i].push_back(payload_of(me, round));
      ins[i].emplace_back(37 * round);
    }
    simulation.member(me).watch();
  }
  for (int me = 0; me < n; ++me) play(me, 0);
  // A member that has failed leaves, so that the members after it in the ring are told.
  for (std::chrono::milliseconds time = 10ms; time <= 2s; time += 10ms) {
    simulation.network().run_until(kStart + time);
    for (const int member : std::exchange(leaving, {})) simulation.member(member).close();
  }
  result.trace = simulation.trace();
  return result;
}

TEST(SeededFaults, WithoutDeathsEveryMessageComesRight) {
  for (std::uint64_t seed = 1; seed <= rounds<std::uint64_t>(60, 6000); ++seed) {
    const int n = 1 + static_cast<int>(seed % 5);
    const RingResult result = run_ring(n, seed, {.delay = 0.4, .repeat = 0.4, .split = 0.5}, 0);
    EXPECT_EQ(result.num_right, 12 * n) << "seed " << seed << "\n" << result.trace;
    EXPECT_EQ(result.num_wrong, 0);
  }
}

TEST(SeededFaults, WithDeathsEveryReceiveEndsRightOrLost) {
  int num_lost = 0;
  for (std::uint64_t seed = 1; seed <= rounds<std::uint64_t>(120, 12000); ++seed) {
    const int n = 2 + static_cast<int>(seed % 4);
    const RingResult result = run_ring(n, seed, {.delay = 0.3, .repeat = 0.3, .split = 0.5}, 0.25);
    EXPECT_EQ(result.num_wrong, 0) << "seed " << seed << "\n" << result.trace;
    // Every member has finished all rounds or was told of a loss.
    EXPECT_GE(result.num_right + 12 * result.num_lost, 12 * n) << "seed " << seed << "\n" << result.trace;
    num_lost += result.num_lost;
  }
  EXPECT_GT(num_lost, 0) << "no seed made a member die";
}

TEST(SeededFaults, AMemberDiesOrFreezesAtEveryMessage) {
  for (std::uint64_t at = 0; at < 30; ++at) {
    for (const bool dies : {true, false}) {
      comm::TransportFaults faults = {.delay = 0.3, .split = 0.5};
      (dies ? faults.die_at : faults.freeze_at) = at;
      const RingResult result = run_ring(3, at, faults, 0);
      EXPECT_EQ(result.num_wrong, 0) << result.trace;
      // A frozen member is told nothing; all others finish or are told of a loss.
      const int num_told = dies ? 3 : 2;
      EXPECT_GE(result.num_right + 12 * result.num_lost, 12 * num_told) << "at " << at << "\n"
                                                                        << result.trace;
    }
  }
}

TEST(SeededFaults, TheSameSeedGivesTheSameRun) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const comm::TransportFaults faults = {.delay = 0.3, .repeat = 0.3, .split = 0.5};
    EXPECT_EQ(run_ring(4, seed, faults, 0.2).trace, run_ring(4, seed, faults, 0.2).trace);
  }
  EXPECT_NE(run_ring(4, 1, {.delay = 0.5}, 0.2).trace, run_ring(4, 2, {.delay = 0.5}, 0.2).trace);
}

}  // namespace
}  // namespace cohort::test

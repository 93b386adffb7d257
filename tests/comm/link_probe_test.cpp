#include "comm/probe/link_probe.h"

#include "comm/network_member.h"
#include "world/world.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using comm::LinkFigures;
using comm::LinkProbeOptions;
using comm::ProbeSender;

// ----- rounds -----

TEST(ProbeRounds, EveryPairComesOnceAndNoRankTwiceInARound) {
  for (int n = 0; n <= 17; ++n) {
    std::set<std::pair<int, int>> all;
    for (const auto& round : comm::probe_rounds(n)) {
      std::set<int> busy;
      for (const auto& [low, high] : round) {
        EXPECT_TRUE(0 <= low && low < high && high < n) << low << "," << high << " of " << n;
        EXPECT_TRUE(all.insert({low, high}).second) << low << "," << high << " twice";
        EXPECT_TRUE(busy.insert(low).second && busy.insert(high).second) << "round of " << n;
      }
    }
    EXPECT_EQ(all.size(), static_cast<std::size_t>(n * (n - 1) / 2)) << n;
  }
}

TEST(ProbeRounds, ThereAreNoMoreThanNeeded) {
  EXPECT_EQ(comm::probe_rounds(0).size(), 0U);
  EXPECT_EQ(comm::probe_rounds(2).size(), 1U);
  EXPECT_EQ(comm::probe_rounds(7).size(), 7U);
  EXPECT_EQ(comm::probe_rounds(8).size(), 7U);
}

// ----- figures -----

/// The results of both ranks.
std::vector<LinkFigures> figures_over(const Network& network, const LinkProbeOptions& options) {
  std::vector<LinkFigures> found(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    NetworkMember member(network, rank.rank());
    COHORT_ASSIGN_OR_RETURN(found[static_cast<std::size_t>(rank.rank())],
                            comm::probe_link(member.group(), 1 - rank.rank(), options));
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
  return found;
}

TEST(LinkProbe, BothEndsGetTheSamePositiveFigures) {
  for (const NetworkKind& kind : network_kinds()) {
    if (kind.name == "simulated_lossy") continue;  // retransmissions hide the figures of the link
    SCOPED_TRACE(kind.name);
    const Network network = kind.make(2);
    const auto found = figures_over(network, {.time = 5ms, .most_bytes = 1 << 20, .clock = &network.clock()});
    EXPECT_EQ(found[0], found[1]);
    EXPECT_GT(found[0].latency_s, 0);
    EXPECT_GT(found[0].byte_s, 0);
    EXPECT_LT(found[0].byte_s, 1e-3);
  }
}

// Waking a thread takes real time on a simulated network, too: the links are so slow that it does not matter.
LinkProbeOptions slowly(const Network& network) {
  return {.time = 12s, .limit = 10min, .clock = &network.clock()};
}

TEST(LinkProbe, FiguresAreThoseOfTheLink) {
  struct Case {
    std::chrono::nanoseconds latency;
    double bytes_per_second;
  };
  for (const auto& [latency, bytes_per_second] : {Case{20ms, 1e4}, Case{100ms, 1e5}, Case{50ms, 1e6}}) {
    SCOPED_TRACE(bytes_per_second);
    const Network network = simulated_network(2, {.latency = latency, .bytes_per_second = bytes_per_second});
    const auto found = figures_over(network, slowly(network));
    const double true_latency_s = std::chrono::duration<double>(latency).count();
    EXPECT_GE(found[0].latency_s, true_latency_s * 0.99);
    EXPECT_LE(found[0].latency_s, true_latency_s * 3);
    EXPECT_GE(found[0].byte_s * bytes_per_second, 0.4);
    EXPECT_LE(found[0].byte_s * bytes_per_second, 2.5);
  }
}

TEST(LinkProbe, EachDirectionHasItsOwn) {
  const auto simulated = std::make_shared<comm::SimulatedNetwork>(
      2, comm::SimulatedNetwork::Options{.link = {.latency = 50ms, .bytes_per_second = 1e6},
                                         .start = std::chrono::steady_clock::now()});
  simulated->set_link(1, 0, {.latency = 50ms, .bytes_per_second = 4e4});
  simulated->start_driver();
  const Network network{[&](int member) { return simulated->take(member); },
                        [&]() -> Clock& { return simulated->clock(); },
                        [&](int) { return std::make_unique<comm::ClockedDoorbell>(simulated->clock()); }};
  std::map<ProbeSender, double> byte_s;
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    NetworkMember member(network, rank.rank());
    for (const ProbeSender sender : {ProbeSender::kLowerRank, ProbeSender::kHigherRank}) {
      LinkProbeOptions options = slowly(network);
      options.sender = sender;
      COHORT_ASSIGN_OR_RETURN(const LinkFigures found,
                              comm::probe_link(member.group(), 1 - rank.rank(), options));
      if (rank.rank() == 0) byte_s[sender] = found.byte_s;
    }
    return rank.barrier();
  });
  ASSERT_WORLD_OK(outcome);
  EXPECT_GT(byte_s[ProbeSender::kHigherRank], 5 * byte_s[ProbeSender::kLowerRank]);
}

TEST(LinkProbe, AllPairsOfAGroupInRounds) {
  for (const int n : {3, 5}) {
    const Network network = loopback_network(n);
    std::vector<std::map<int, LinkFigures>> found(static_cast<std::size_t>(n));
    const auto outcome = run_world(n, [&](RankContext& rank) -> Status {
      NetworkMember member(network, rank.rank());
      for (const auto& round : comm::probe_rounds(n)) {
        for (const auto& [low, high] : round) {
          if (rank.rank() != low && rank.rank() != high) continue;
          const int peer = low + high - rank.rank();
          COHORT_ASSIGN_OR_RETURN(
              found[static_cast<std::size_t>(rank.rank())][peer],
              comm::probe_link(member.group(), peer, {.time = 2ms, .most_bytes = 100000}));
        }
      }
      return rank.barrier();
    });
    ASSERT_WORLD_OK(outcome);
    for (int low = 0; low < n; ++low) {
      for (int high = low + 1; high < n; ++high) {
        EXPECT_EQ(found[static_cast<std::size_t>(low)][high], found[static_cast<std::size_t>(high)][low]);
      }
    }
  }
}

TEST(LinkProbe, OnlyAnotherRankHasAWayToIt) {
  const Network network = loopback_network(1);
  NetworkMember member(network, 0);
  for (const int peer : {-1, 0, 1}) {
    const auto figures = comm::probe_link(member.group(), peer, {});
    ASSERT_FALSE(figures) << peer;
    EXPECT_EQ(figures.error().code(), ErrorCode::kUsage);
  }
}

TEST(LinkProbe, APeerThatNeverComesEndsItByTheLimit) {
  const Network network = loopback_network(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    NetworkMember member(network, rank.rank());
    if (rank.rank() == 0) {
      const auto figures = comm::probe_link(member.group(), 1, {.limit = 20ms});
      if (figures || figures.error().code() != ErrorCode::kTimedOut)
        return rank.failure("it did not time out");
    }
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test

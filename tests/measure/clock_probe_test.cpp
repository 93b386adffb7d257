#include "measure/clock_probe.h"

#include "base/faulty_clock.h"
#include "comm/network_member.h"
#include "world/world.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using measure::ClockOffset;

/// The results of two ranks; the clock of the second one is wrong.
std::vector<ClockOffset> offsets_when(std::chrono::nanoseconds wrong) {
  const Network network = loopback_network(2);
  std::vector<ClockOffset> found(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    NetworkMember member(network, rank.rank());
    const FaultyClock clock(network.clock(), {.wall_offset = rank.rank() == 1 ? wrong : 0ns});
    COHORT_ASSIGN_OR_RETURN(found[static_cast<std::size_t>(rank.rank())],
                            measure::probe_clock(member.group(), 1 - rank.rank(), {.clock = &clock}));
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
  return found;
}

TEST(ClockProbe, BothEndsLearnTheOffsetWithinItsError) {
  for (const std::chrono::nanoseconds wrong : {0ns, 3000000000ns, -1500000000ns}) {
    const auto found = offsets_when(wrong);
    EXPECT_EQ(found[0], found[1]);
    EXPECT_GE(found[0].error, 0ns);
    EXPECT_LE((found[0].offset - wrong).count(), found[0].error.count() + 1);
    EXPECT_GE((found[0].offset - wrong).count(), -found[0].error.count() - 1);
  }
}

TEST(ClockProbe, OnlyAnotherRankHasAnotherClock) {
  const Network network = loopback_network(1);
  NetworkMember member(network, 0);
  const auto offset = measure::probe_clock(member.group(), 0, {});
  ASSERT_FALSE(offset);
  EXPECT_EQ(offset.error().code(), ErrorCode::kUsage);
}

}  // namespace
}  // namespace cohort::test

#include "comm/exchange.h"

#include "comm/exchange_member.h"
#include "comm/transport/loopback.h"
#include "world/world.h"

#include <atomic>
#include <gtest/gtest.h>
#include <latch>

namespace cohort::test {
namespace {

using comm::Channel;
using comm::FrameHeader;
using comm::make_loopback;
using namespace std::chrono_literals;

constexpr std::size_t kSizes[] = {0, 1, 7, 4096, (std::size_t{1} << 20) + 3};

FrameHeader message(std::uint64_t number, std::uint64_t tag = 0) {
  return {.channel = Channel::kMessage, .group = 3, .generation = 1, .number = number, .tag = tag};
}

TEST(Exchange, EveryMemberReachesEveryOther) {
  for (const int n : {1, 2, 3, 5}) {
    const auto network = make_loopback(n);
    const auto outcome = run_world(n, [&](RankContext& rank) -> Status {
      ExchangeMember me(network->take(rank.rank()));
      for (const std::size_t size : kSizes) {
        std::vector<std::vector<std::byte>> to;
        std::vector<std::vector<std::byte>> from(static_cast<std::size_t>(n), std::vector<std::byte>(size));
        std::vector<Waiting> waits(static_cast<std::size_t>(n) * 2);
        for (int other = 0; other < n; ++other) {
          to.push_back(pattern(size, static_cast<std::uint64_t>(rank.rank() * 100 + other)));
        }
        for (int other = 0; other < n; ++other) {
          const auto i = static_cast<std::size_t>(other);
          me->send(other, message(size), to[i], waits[2 * i].callback());
          me->receive(other, message(size), from[i], waits[2 * i + 1].callback());
        }
        for (const Waiting& wait : waits) COHORT_RETURN_IF_ERROR(wait.wait());
        for (int other = 0; other < n; ++other) {
          const auto expected = pattern(size, static_cast<std::uint64_t>(other * 100 + rank.rank()));
          if (from[static_cast<std::size_t>(other)] != expected)
            return rank.failure("wrong bytes from {}", other);
        }
      }
      return rank.barrier();
    });
    EXPECT_WORLD_OK(outcome);
  }
}

}  // namespace
}  // namespace cohort::test

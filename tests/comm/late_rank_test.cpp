#include "comm/exchange_member.h"
#include "comm/message_passing/communicator.h"
#include "comm/message_passing_member.h"
#include "world/world.h"

#include <atomic>
#include <gtest/gtest.h>
#include <numeric>

// A rank that is late to calls with more bytes than others may keep for it: nobody is lost, on any network.

namespace cohort::test {
namespace {

using comm::Channel;
using comm::FrameHeader;
using namespace std::chrono_literals;

constexpr std::size_t kCap = std::size_t{256} << 10;

FrameHeader part(std::uint64_t number, std::uint32_t group = 3, std::uint32_t generation = 1) {
  return {.channel = Channel::kCollective, .group = group, .generation = generation, .number = number};
}

/// A member with little memory for messages that no receive is waiting for, who hears of marks: messages that
/// follow others on their way.
class Late {
 public:
  Late(const Network& network, int rank, std::chrono::nanoseconds liveness = 5min)
      : member_(network.take(rank), network, rank, {.liveness = liveness, .unexpected_cap_bytes = kCap}) {
    member_.exchange.handle(Channel::kQuery, 77,
                            [this](int, const FrameHeader&, const std::vector<std::byte>&) { ++num_marks_; });
  }
  comm::Exchange* operator->() { return &member_.exchange; }
  comm::Exchange& exchange() { return member_.exchange; }
  comm::Progress& progress() { return member_.progress; }

  void mark(int to) { member_.exchange.send(to, {.channel = Channel::kQuery, .group = 77}, {}, {}); }
  /// Waits until this many marks have come: all messages ahead of them have, too.
  Status await_marks(RankContext& rank, int count) {
    return rank.wait_for([this, count] { return num_marks_ >= count || is_anybody_lost(); });
  }
  bool is_anybody_lost() const {
    for (int other = 0; other < member_.exchange.num_members(); ++other) {
      if (member_.exchange.loss(other)) return true;
    }
    return false;
  }

 private:
  std::atomic<int> num_marks_ = 0;
  MessagePassingMember member_;
};

/// Messages from one member to another, each with the callback of its send.
struct Sends {
  Sends(Late& from, int to, const std::vector<std::size_t>& sizes, std::uint32_t group = 3)
      : waits(sizes.size()) {
    for (const std::size_t size : sizes) payloads.push_back(pattern(size, payloads.size() + group));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      from->send(to, part(i, group), payloads[i], waits[i].callback());
    }
  }
  Status wait() const {
    for (const Waiting& each : waits) COHORT_RETURN_IF_ERROR(each.wait());
    return {};
  }
  std::vector<std::vector<std::byte>> payloads;
  std::vector<Waiting> waits;
};

Status receive(RankContext& rank, Late& me, int from, const FrameHeader& header, std::size_t size_bytes) {
  std::vector<std::byte> into(size_bytes);
  Waiting received;
  me->recv(from, header, into, received.callback());
  COHORT_RETURN_IF_ERROR(received.wait());
  if (into != pattern(size_bytes, header.number + header.group)) return rank.failure("wrong bytes");
  return {};
}

class LateRank : public testing::TestWithParam<NetworkKind> {};

INSTANTIATE_TEST_SUITE_P(Every, LateRank, testing::ValuesIn(network_kinds()),
                         [](const auto& kind) { return kind.param.name; });

// Far more than the cap in all, messages that are longer than the cap alone, and some without a byte.
const std::vector<std::size_t> kLots = {100'000, 0, 50'000, 100'000, 1, 100'000, 600'001, 7, 300'000, 0, 64};

TEST_P(LateRank, GetsEveryMessageInAnyOrder) {
  const Network network = GetParam().make(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    Late me(network, rank.rank());
    const int other = 1 - rank.rank();
    const Sends sends(me, other, kLots);
    me.mark(other);
    COHORT_RETURN_IF_ERROR(me.await_marks(rank, 1));
    for (std::size_t i = kLots.size(); i > 0; --i) {
      COHORT_RETURN_IF_ERROR(receive(rank, me, other, part(i - 1), kLots[i - 1]));
    }
    COHORT_RETURN_IF_ERROR(sends.wait());
    if (me.is_anybody_lost()) return rank.failure("a member is lost");
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

TEST_P(LateRank, EqualMessagesKeepTheirOrder) {
  const Network network = GetParam().make(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    Late me(network, rank.rank());
    constexpr std::size_t kNum = 12;
    if (rank.rank() == 0) {
      std::vector<std::vector<std::byte>> payloads;
      std::vector<Waiting> sent(kNum);
      for (std::uint64_t i = 0; i < kNum; ++i) payloads.push_back(pattern(40'000, i));
      for (std::size_t i = 0; i < kNum; ++i) me->send(1, part(9), payloads[i], sent[i].callback());
      me.mark(1);
      for (const Waiting& each : sent) COHORT_RETURN_IF_ERROR(each.wait());
      return rank.barrier();
    }
    COHORT_RETURN_IF_ERROR(me.await_marks(rank, 1));
    for (std::uint64_t i = 0; i < kNum; ++i) {
      std::vector<std::byte> into(40'000);
      Waiting received;
      me->recv(0, part(9), into, received.callback());
      COHORT_RETURN_IF_ERROR(received.wait());
      if (into != pattern(40'000, i)) return rank.failure("message {} is another", i);
    }
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

// The messages of one group must not stand in the way of another group, whose calls come first here.
TEST_P(LateRank, ReceivesForOneGroupBehindTheMessagesOfAnother) {
  const Network network = GetParam().make(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    Late me(network, rank.rank());
    const int other = 1 - rank.rank();
    const Sends early(me, other, kLots, 3);
    const Sends behind(me, other, kLots, 4);
    me.mark(other);
    COHORT_RETURN_IF_ERROR(me.await_marks(rank, 1));
    for (const std::uint32_t group : {4u, 3u}) {
      for (std::size_t i = 0; i < kLots.size(); ++i) {
        COHORT_RETURN_IF_ERROR(receive(rank, me, other, part(i, group), kLots[i]));
      }
    }
    COHORT_RETURN_IF_ERROR(early.wait());
    COHORT_RETURN_IF_ERROR(behind.wait());
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

TEST_P(LateRank, WhoCancelsTheGroupLetsTheSendersGo) {
  const Network network = GetParam().make(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    Late me(network, rank.rank());
    if (rank.rank() == 0) {
      const Sends over(me, 1, kLots, 3);
      me.mark(1);
      COHORT_RETURN_IF_ERROR(over.wait());  // dropped by the receiver
      const Sends next(me, 1, kLots, 4);
      COHORT_RETURN_IF_ERROR(next.wait());
      return rank.barrier();
    }
    COHORT_RETURN_IF_ERROR(me.await_marks(rank, 1));
    me->cancel(3, 1);
    for (std::size_t i = 0; i < kLots.size(); ++i) {
      COHORT_RETURN_IF_ERROR(receive(rank, me, 0, part(i, 4), kLots[i]));
    }
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

TEST_P(LateRank, ACancelledSendIsNeitherCalledBackNorRead) {
  const Network network = GetParam().make(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    Late me(network, rank.rank());
    if (rank.rank() == 1) {
      COHORT_RETURN_IF_ERROR(me.await_marks(rank, 2));
      std::vector<std::byte> into(400'000);
      Waiting received;
      me->recv(0, part(1), into, received.callback());
      for (std::size_t i = 0; i < kLots.size(); ++i) {
        COHORT_RETURN_IF_ERROR(receive(rank, me, 0, part(i, 4), kLots[i]));
      }
      if (received.is_done()) return rank.failure("a cancelled message has come");
      me->cancel(3, 1);
      return rank.barrier();
    }
    std::atomic<int> num_called = 0;
    {
      const std::vector<std::byte> gone_soon = pattern(400'000, 3);
      for (std::uint64_t i = 0; i < 5; ++i) {
        me->send(1, part(i), gone_soon, [&](const Status&) { ++num_called; });
      }
      me.mark(1);
      me->cancel(3, 1);
    }
    const int num_before = num_called;
    const Sends next(me, 1, kLots, 4);
    me.mark(1);
    COHORT_RETURN_IF_ERROR(next.wait());
    if (num_called != num_before) return rank.failure("a cancelled send was called back");
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

TEST_P(LateRank, WhoLeavesEndsTheSendsThatWaitForIt) {
  const Network network = GetParam().make(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    if (rank.rank() == 1) {
      Late me(network, 1);
      return me.await_marks(rank, 1);
    }
    Late me(network, 0);
    const Sends sends(me, 1, {600'000});
    me.mark(1);
    const Status sent = sends.wait();
    if (sent || sent.error().code() != ErrorCode::kPeerLost) return rank.failure("the send was not refused");
    const Sends later(me, 1, {600'000});
    const Status refused = later.wait();
    if (refused || refused.error().code() != ErrorCode::kPeerLost) return rank.failure("not refused");
    return {};
  });
  EXPECT_WORLD_OK(outcome);
}

TEST_P(LateRank, HearsThatTheSenderHasLeft) {
  const Network network = GetParam().make(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    if (rank.rank() == 0) {
      Late me(network, 0);
      const std::vector<std::byte> payload(600'000);
      me->send(1, part(1), payload, {});
      me.mark(1);
      return rank.barrier();  // the mark has come
    }
    Late me(network, 1);
    COHORT_RETURN_IF_ERROR(me.await_marks(rank, 1));
    COHORT_RETURN_IF_ERROR(rank.barrier());
    COHORT_RETURN_IF_ERROR(rank.wait_for([&] { return me.is_anybody_lost(); }));
    const Status received = receive(rank, me, 0, part(1), 600'000);
    if (received || received.error().code() != ErrorCode::kPeerLost) return rank.failure("not told");
    return {};
  });
  EXPECT_WORLD_OK(outcome);
}

// ----- collectives -----

std::vector<float> numbers(std::size_t count, int seed) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = static_cast<float>((i + static_cast<std::size_t>(seed)) % 97);
  return all;
}

TEST_P(LateRank, CollectivesOfMoreThanTheCapEndWell) {
  constexpr int kCalls = 6;
  constexpr std::size_t kCount = 200'003;  // 800 kB, more than three times the cap
  const Network network = GetParam().make(3);
  const auto outcome = run_world(3, [&](RankContext& rank) -> Status {
    Late me(network, rank.rank());
    COHORT_ASSIGN_OR_RETURN(const auto group,
                            comm::MessagePassingCommunicator::make_world(me.exchange(), me.progress(), {}));
    // Rank 2 comes when all that the others send at once is on its way.
    if (rank.rank() == 2) COHORT_RETURN_IF_ERROR(me.await_marks(rank, 2));
    std::vector<std::vector<float>> data;
    for (int call = 0; call < kCalls; ++call) data.push_back(numbers(kCount, call + rank.rank()));
    std::vector<comm::Work> works;
    for (int call = 0; call < kCalls; ++call) {
      auto& buffer = data[static_cast<std::size_t>(call)];
      works.push_back(call % 2 == 0 ? group->start(all_reduce(buffer))
                                    : group->start(broadcast(buffer, call % 3)));
    }
    if (rank.rank() != 2) me.mark(2);
    for (comm::Work& work : works) COHORT_RETURN_IF_ERROR(work.wait());
    for (int call = 0; call < kCalls; ++call) {
      const auto& buffer = data[static_cast<std::size_t>(call)];
      const std::size_t i = kCount - 1;
      const float expected = call % 2 == 0 ? numbers(kCount, call)[i] + numbers(kCount, call + 1)[i] +
                                                 numbers(kCount, call + 2)[i]
                                           : numbers(kCount, call + call % 3)[i];
      if (buffer[i] != expected) return rank.failure("call {}: {} instead of {}", call, buffer[i], expected);
    }
    if (me.is_anybody_lost()) return rank.failure("a member is lost");
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

TEST_P(LateRank, IsNamedWhenTheOthersHaveWaitedTooLong) {
  const Network network = GetParam().make(2);
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    Late me(network, rank.rank());
    COHORT_ASSIGN_OR_RETURN(const auto group,
                            comm::MessagePassingCommunicator::make_world(me.exchange(), me.progress(), {}));
    std::vector<float> data = numbers(200'003, 0);
    if (rank.rank() == 0) {
      const Sends filler(me, 1, {kCap / 2}, 5);  // leaves no room
      const Status sent = group->run(broadcast(data, 0).within(300ms));
      if (sent) return rank.failure("the broadcast ended without the other rank");
      if (sent.error().rank() != 1) return rank.failure("rank 1 is not named: {}", sent.error().text());
      return rank.barrier();
    }
    // The notice of the failure comes past the messages that wait.
    COHORT_RETURN_IF_ERROR(rank.wait_for([&] { return group->failure().has_value(); }));
    if (group->failure()->root().code() != ErrorCode::kTimedOut) {
      return rank.failure("another failure: {}", group->failure()->text());
    }
    if (me.is_anybody_lost()) return rank.failure("a member is lost");
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

// ----- signs of life -----

TEST(LateRankOverTcp, MayBeLateForLongerThanTheLivenessLimit) {
  const Network network = tcp_network(2, {.secrecy = net::Secrecy::kClear});
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    Late me(network, rank.rank(), 400ms);
    const int other = 1 - rank.rank();
    me->watch();
    const Sends sends(me, other, kLots);
    me.mark(other);
    COHORT_RETURN_IF_ERROR(me.await_marks(rank, 1));
    const TimePoint until = rank.clock().now() + 1200ms;
    COHORT_RETURN_IF_ERROR(rank.wait_for([&] { return rank.clock().now() >= until; }));
    for (std::size_t i = 0; i < kLots.size(); ++i) {
      COHORT_RETURN_IF_ERROR(receive(rank, me, other, part(i), kLots[i]));
    }
    COHORT_RETURN_IF_ERROR(sends.wait());
    COHORT_RETURN_IF_ERROR(rank.barrier());
    me->unwatch();
    return {};
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(LateRankOverTcp, ThatIsFrozenIsLost) {
  const Network network = tcp_network(2, {.secrecy = net::Secrecy::kClear});
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    Late me(network, rank.rank(), 400ms);
    if (rank.rank() == 1) {
      COHORT_RETURN_IF_ERROR(me.await_marks(rank, 1));
      me.progress().remove(me.exchange());
      return rank.barrier();
    }
    const Sends sends(me, 1, {600'000});
    me.mark(1);
    me->watch();
    const Status sent = sends.wait();
    me->unwatch();
    if (sent || sent.error().code() != ErrorCode::kPeerLost)
      return rank.failure("the frozen rank counts as alive");
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test

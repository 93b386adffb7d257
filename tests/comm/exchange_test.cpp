#include "comm/exchange.h"

#include "comm/exchange_member.h"
#include "comm/transport/faulty.h"
#include "comm/transport/loopback.h"
#include "world/world.h"

#include <atomic>
#include <gtest/gtest.h>
#include <latch>
#include <thread>
#include <tuple>

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

/// Two members in one thread.
struct Two {
  explicit Two(comm::Exchange::Options options = {})
      : network(make_loopback(2)), a(network->take(0), options), b(network->take(1), options) {}
  std::shared_ptr<comm::LoopbackNetwork> network;
  ExchangeMember a;
  ExchangeMember b;
};

TEST(Exchange, MessagesWaitForTheirReceivesInAnyOrder) {
  Two two;
  const std::vector<std::byte> one = pattern(100, 1);
  const std::vector<std::byte> other = pattern(200, 2);
  ASSERT_TRUE(two.a.send(1, message(1), one));
  ASSERT_TRUE(two.a.send(1, message(1, 5), other));
  std::vector<std::byte> into_other(200);
  std::vector<std::byte> into_one(100);
  EXPECT_TRUE(two.b.receive(0, message(1, 5), into_other));
  EXPECT_TRUE(two.b.receive(0, message(1), into_one));
  EXPECT_EQ(into_one, one);
  EXPECT_EQ(into_other, other);
}

TEST(Exchange, EqualMessagesMeetEqualReceivesInOrder) {
  Two two;
  std::vector<std::vector<std::byte>> into(6, std::vector<std::byte>(10));
  std::vector<Waiting> waits(6);
  // Half of them are asked for before they are there, half after.
  for (std::size_t i = 0; i < 3; ++i) two.b->receive(0, message(1), into[i], waits[i].callback());
  for (std::uint64_t i = 0; i < 6; ++i) ASSERT_TRUE(two.a.send(1, message(1), pattern(10, i)));
  for (std::size_t i = 3; i < 6; ++i) two.b->receive(0, message(1), into[i], waits[i].callback());
  for (std::size_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(waits[i].wait());
    EXPECT_EQ(into[i], pattern(10, i)) << i;
  }
}

enum class First { kMessage, kReceive };

Status meet(Two& two, First first, const FrameHeader& sent, const FrameHeader& wanted,
            std::span<std::byte> into, std::span<const std::byte> payload) {
  Waiting received;
  if (first == First::kReceive) two.b->receive(0, wanted, into, received.callback());
  COHORT_RETURN_IF_ERROR(two.a.send(1, sent, payload));
  if (first == First::kMessage) two.b->receive(0, wanted, into, received.callback());
  return received.wait();
}

TEST(Exchange, AWrongLengthIsNamedWhicheverComesFirst) {
  for (const First first : {First::kMessage, First::kReceive}) {
    for (const std::size_t room : {0u, 6u, 8u}) {
      Two two;
      std::vector<std::byte> into(room, std::byte{0x55});
      const Status status = meet(two, first, message(1), message(1), into, pattern(7, 1));
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code(), ErrorCode::kCorrupt);
      EXPECT_EQ(status.error().message(),
                fmt::format("the message of member 0 has 7 bytes, {} were expected", room));
      EXPECT_EQ(into, std::vector<std::byte>(room, std::byte{0x55})) << "nothing is written";
    }
  }
}

TEST(Exchange, AnotherSignatureIsNamedWhicheverComesFirst) {
  for (const First first : {First::kMessage, First::kReceive}) {
    Two two;
    FrameHeader sent = message(1);
    FrameHeader wanted = message(1);
    sent.signature = 0xabc;
    wanted.signature = 0xdef;
    std::vector<std::byte> into(7);
    const Status status = meet(two, first, sent, wanted, into, pattern(7, 1));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kUsage);
    EXPECT_EQ(status.error().message(),
              "member 0 makes another call: its signature is 0000000000000abc, ours 0000000000000def");
  }
}

TEST(Exchange, AHandlerGetsWhatCameBeforeAndAfter) {
  Two two;
  ASSERT_TRUE(two.a.send(1, message(1), pattern(3, 1)));
  std::mutex mutex;
  std::vector<std::uint64_t> numbers;
  std::latch three(3);
  two.b->handle(Channel::kMessage, 3,
                [&](int from, const FrameHeader& header, std::vector<std::byte> payload) {
                  const std::lock_guard lock(mutex);
                  EXPECT_EQ(from, 0);
                  EXPECT_EQ(payload, pattern(3, header.number));
                  numbers.push_back(header.number);
                  three.count_down();
                });
  ASSERT_TRUE(two.a.send(1, message(2), pattern(3, 2)));
  ASSERT_TRUE(two.a.send(1, message(3), pattern(3, 3)));
  three.wait();
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{1, 2, 3}));
  two.b->remove_handler(Channel::kMessage, 3);
  ASSERT_TRUE(two.a.send(1, message(4), pattern(3, 4)));
  std::vector<std::byte> into(3);
  EXPECT_TRUE(two.b.receive(0, message(4), into)) << "without a handler it is matched again";
}

TEST(Exchange, ACallbackMayUseTheExchange) {
  Two two;
  std::latch done(1);
  std::vector<std::byte> into(1);
  const std::vector<std::byte> payload = pattern(1, 1);
  two.b->receive(0, message(1), into, [&](const Status&) {
    two.b->send(0, message(2), payload, [&](const Status&) { two.b->cancel(8, 8); });
  });
  two.a->receive(1, message(2), into, [&](const Status& status) {
    EXPECT_TRUE(status);
    done.count_down();
  });
  ASSERT_TRUE(two.a.send(1, message(1), payload));
  done.wait();
}

TEST(Exchange, CancelForgetsWithoutCallingBack) {
  Two two;
  std::atomic<int> num_called = 0;
  {
    std::vector<std::byte> gone_soon(10);
    for (std::uint64_t i = 0; i < 10; ++i) {
      two.b->receive(0, message(i), gone_soon, [&](const Status&) { ++num_called; });
    }
    two.b->cancel(3, 1);
  }
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(two.a.send(1, message(i), pattern(10, i)));
  EXPECT_EQ(num_called, 0);
  std::vector<std::byte> into(10);
  EXPECT_EQ(two.b.receive(0, message(1), into).error().code(), ErrorCode::kStale);
  FrameHeader next = message(1);
  next.generation = 2;
  ASSERT_TRUE(two.a.send(1, next, pattern(10, 77)));
  EXPECT_TRUE(two.b.receive(0, next, into)) << "the next generation is not touched";
  EXPECT_EQ(into, pattern(10, 77));
  FrameHeader other_group = message(1);
  other_group.group = 4;
  ASSERT_TRUE(two.a.send(1, other_group, pattern(10, 78)));
  EXPECT_TRUE(two.b.receive(0, other_group, into)) << "nor is another group";
}

TEST(Exchange, CancelTakesBackWhatWasSent) {
  Two two;
  two.b.freeze();
  std::atomic<int> num_called = 0;
  {
    const std::vector<std::byte> gone_soon = pattern(1000, 1);
    for (std::uint64_t i = 0; i < 5; ++i) {
      two.a->send(1, message(i), gone_soon, [&](const Status&) { ++num_called; });
    }
    two.a->cancel(3, 1);
  }
  two.b.progress().add(two.b.exchange());
  FrameHeader next = message(1);
  next.generation = 2;
  ASSERT_TRUE(two.a.send(1, next, {}));
  EXPECT_EQ(num_called, 0);
}

// While messages pour in, their buffers die right after cancel().
TEST(Exchange, CancelIsSafeWhileMessagesComeIn) {
  Two two;
  for (std::uint32_t generation = 1; generation <= 30; ++generation) {
    const std::vector<std::byte> payload = pattern(50'000, generation);
    auto into = std::make_unique<std::vector<std::byte>>(payload.size());
    auto touched = std::make_unique<std::atomic<int>>(0);
    std::latch first(1);
    for (std::uint64_t i = 0; i < 8; ++i) {
      FrameHeader header = message(i);
      header.generation = generation;
      two.b->receive(0, header, *into, [&, t = touched.get()](const Status&) {
        if (++*t == 1) first.count_down();
      });
      two.a->send(1, header, payload, {});
    }
    first.wait();
    two.b->cancel(3, generation);
    into.reset();
    touched.reset();
    two.a->cancel(3, generation);
  }
}

TEST(Exchange, ALostMemberEndsItsReceivesAndSends) {
  const auto network = make_loopback(3);
  ExchangeMember a(network->take(0));
  ExchangeMember c(network->take(2));
  std::vector<std::byte> into(3);
  std::vector<Waiting> waits(4);
  std::atomic<int> num_losses = 0;
  const int id = a->on_loss([&](int member, const Error& why) {
    EXPECT_EQ(member, 1);
    EXPECT_EQ(why.code(), ErrorCode::kPeerLost);
    ++num_losses;
  });
  {
    ExchangeMember b(network->take(1));
    ASSERT_TRUE(b.send(0, message(50), pattern(3, 9)));
    b.freeze();
    for (std::size_t i = 0; i < 2; ++i) a->receive(1, message(i), into, waits[i].callback());
    for (std::size_t i = 2; i < 4; ++i) a->send(1, message(i), into, waits[i].callback());
  }
  for (const Waiting& wait : waits) EXPECT_EQ(wait.wait().error().code(), ErrorCode::kPeerLost);
  EXPECT_EQ(a.receive(1, message(7), into).error().code(), ErrorCode::kPeerLost) << "and later ones";
  EXPECT_EQ(a.send(1, message(7), into).error().code(), ErrorCode::kPeerLost);
  EXPECT_TRUE(a.receive(1, message(50), into)) << "what came before can be had";
  EXPECT_EQ(into, pattern(3, 9));
  EXPECT_TRUE(a->loss(1));
  EXPECT_FALSE(a->loss(2));
  EXPECT_EQ(num_losses, 1);
  a->remove_loss_handler(id);

  std::latch told(1);
  const int late = a->on_loss([&](int member, const Error&) {
    EXPECT_EQ(member, 1);
    told.count_down();
  });
  told.wait();  // of a loss that was before
  a->remove_loss_handler(late);
  ASSERT_TRUE(a.send(2, message(1), into)) << "the others are there";
}

TEST(Exchange, AFloodEndsTheOneWhoSendsIt) {
  Two two({.unexpected_cap_bytes = 1000});
  std::latch lost(1);
  two.b->on_loss([&](int, const Error& why) {
    EXPECT_EQ(why.message(), "member 0 sent more than 1000 B that nobody here has asked for");
    lost.count_down();
  });
  ASSERT_TRUE(two.a.send(1, message(1), pattern(600, 1)));
  std::vector<std::byte> into(600);
  ASSERT_TRUE(two.b.receive(0, message(1), into));
  ASSERT_TRUE(two.a.send(1, message(2), pattern(1000, 1))) << "what was taken is not counted";
  EXPECT_FALSE(two.b->loss(0));
  std::ignore = two.a.send(1, message(3), pattern(1, 1));
  lost.wait();
}

TEST(Exchange, AnAskedForMessageMayBeLargerThanTheCap) {
  Two two({.unexpected_cap_bytes = 10});
  std::vector<std::byte> into(1000);
  Waiting received;
  two.b->receive(0, message(1), into, received.callback());
  ASSERT_TRUE(two.a.send(1, message(1), pattern(1000, 1)));
  EXPECT_TRUE(received.wait());
}

TEST(Exchange, AFrozenMemberIsLostOnlyWhileSomebodyWatches) {
  const auto network = make_loopback(3);
  const comm::Exchange::Options options = {.liveness = 40ms};
  ExchangeMember a(network->take(0), options);
  ExchangeMember b(network->take(1), options);
  ExchangeMember c(network->take(2), options);
  std::vector<std::byte> into(3);
  b.freeze();
  Waiting unwatched;
  a->receive(1, message(1), into, unwatched.callback());
  EXPECT_EQ(unwatched.wait(120ms).error().code(), ErrorCode::kTimedOut) << "nobody watches";
  EXPECT_FALSE(unwatched.is_done());
  a->watch();
  const Status status = unwatched.wait();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kPeerLost);
  EXPECT_EQ(status.error().message(), "member 1 gave no sign of life for 40 ms");
  EXPECT_FALSE(a->loss(2)) << "whoever answers lives, though it has nothing to say";
  a->unwatch();
}

TEST(Exchange, APauseOfEverybodyIsNoDeath) {
  ManualClock clock;
  const auto network = make_loopback(2);
  comm::LocalDoorbell bell;
  comm::Exchange a(network->take(0), clock, {.liveness = 100ms});
  comm::Exchange b(network->take(1), clock, {.liveness = 100ms});
  a.open(bell);
  b.open(bell);
  a.watch();
  const auto go_round = [&] {
    for (int i = 0; i < 5; ++i) {
      a.advance();
      b.advance();
    }
  };
  go_round();
  clock.advance(1h);
  go_round();
  EXPECT_FALSE(a.loss(1)) << "we were away, too";
  for (int tick = 0; tick < 9; ++tick) {
    clock.advance(10ms);
    a.advance();
  }
  EXPECT_FALSE(a.loss(1)) << "not yet";
  b.advance();
  for (int tick = 0; tick < 9; ++tick) {
    clock.advance(10ms);
    a.advance();
  }
  EXPECT_FALSE(a.loss(1)) << "it gave a sign";
  for (int tick = 0; tick < 4; ++tick) {
    clock.advance(10ms);
    a.advance();
    a.advance();
  }
  EXPECT_TRUE(a.loss(1));
  a.close();
  b.close();
}

TEST(Exchange, RepeatedMessagesAreDropped) {
  const auto network = make_loopback(2);
  const auto repeat_everything = [&](int member) {
    return std::make_unique<comm::FaultyTransport>(network->take(member),
                                                   comm::TransportFaults{.repeat = 1.0, .split = 0.5});
  };
  ExchangeMember a(repeat_everything(0));
  ExchangeMember b(repeat_everything(1));
  std::atomic<int> num_handled = 0;
  b->handle(Channel::kQuery, 3,
            [&](int, const FrameHeader&, const std::vector<std::byte>&) { ++num_handled; });
  for (std::uint64_t i = 0; i < 50; ++i) {
    FrameHeader query = message(i);
    query.channel = Channel::kQuery;
    ASSERT_TRUE(a.send(1, query, pattern(9, i)));
    ASSERT_TRUE(a.send(1, message(i % 2), pattern(9, i)));
  }
  std::vector<std::byte> into(9);
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(b.receive(0, message(i % 2), into));
    EXPECT_EQ(into, pattern(9, i));
  }
  EXPECT_EQ(num_handled, 50);
}

TEST(Exchange, ManyThreadsShareIt) {
  const auto network = make_loopback(3);
  const auto outcome = run_world(3, [&](RankContext& rank) -> Status {
    ExchangeMember me(network->take(rank.rank()));
    std::vector<std::thread> threads;
    std::atomic<int> num_right = 0;
    for (std::uint32_t group = 0; group < 4; ++group) {
      threads.emplace_back([&, group] {
        for (std::uint64_t i = 0; i < 50; ++i) {
          const FrameHeader header = {.channel = Channel::kCollective, .group = group, .number = i};
          std::vector<std::byte> into(33);
          Waiting received;
          me->receive((rank.rank() + 2) % 3, header, into, received.callback());
          const bool is_sent =
              me.send((rank.rank() + 1) % 3, header, pattern(33, group * 100 + i)).has_value();
          if (is_sent && received.wait() && into == pattern(33, group * 100 + i)) ++num_right;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (num_right != 200) return rank.failure("only {} of 200 were right", num_right.load());
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test

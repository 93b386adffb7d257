#include "comm/exchange/exchange.h"

#include "comm/exchange_member.h"
#include "comm/networks/faulty.h"
#include "comm/networks/loopback.h"
#include "world/world.h"

#include <algorithm>
#include <atomic>
#include <deque>
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
          me->recv(other, message(size), from[i], waits[2 * i + 1].callback());
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
  EXPECT_TRUE(two.b.recv(0, message(1, 5), into_other));
  EXPECT_TRUE(two.b.recv(0, message(1), into_one));
  EXPECT_EQ(into_one, one);
  EXPECT_EQ(into_other, other);
}

TEST(Exchange, EqualMessagesMeetEqualReceivesInOrder) {
  Two two;
  std::vector<std::vector<std::byte>> into(6, std::vector<std::byte>(10));
  std::vector<Waiting> waits(6);
  // Half of the receives start before their messages arrive, half after.
  for (std::size_t i = 0; i < 3; ++i) two.b->recv(0, message(1), into[i], waits[i].callback());
  for (std::uint64_t i = 0; i < 6; ++i) ASSERT_TRUE(two.a.send(1, message(1), pattern(10, i)));
  for (std::size_t i = 3; i < 6; ++i) two.b->recv(0, message(1), into[i], waits[i].callback());
  for (std::size_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(waits[i].wait());
    EXPECT_EQ(into[i], pattern(10, i)) << i;
  }
}

enum class First { kMessage, kReceive };

Status meet(Two& two, First first, const FrameHeader& sent, const FrameHeader& wanted,
            std::span<std::byte> into, std::span<const std::byte> payload) {
  Waiting received;
  if (first == First::kReceive) two.b->recv(0, wanted, into, received.callback());
  COHORT_RETURN_IF_ERROR(two.a.send(1, sent, payload));
  if (first == First::kMessage) two.b->recv(0, wanted, into, received.callback());
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
                fmt::format("the message of member 0 has 7 bytes, expected {}", room));
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

TEST(Exchange, AHandlerGetsEarlierAndLaterMessages) {
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
  EXPECT_TRUE(two.b.recv(0, message(4), into))
      << "without a handler, messages are matched with receives again";
}

TEST(Exchange, ACallbackMayUseTheExchange) {
  Two two;
  std::latch done(1);
  std::vector<std::byte> into(1);
  const std::vector<std::byte> payload = pattern(1, 1);
  two.b->recv(0, message(1), into, [&](const Status&) {
    two.b->send(0, message(2), payload, [&](const Status&) { two.b->cancel(8, 8); });
  });
  two.a->recv(1, message(2), into, [&](const Status& status) {
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
      two.b->recv(0, message(i), gone_soon, [&](const Status&) { ++num_called; });
    }
    two.b->cancel(3, 1);
  }
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(two.a.send(1, message(i), pattern(10, i)));
  EXPECT_EQ(num_called, 0);
  std::vector<std::byte> into(10);
  EXPECT_EQ(two.b.recv(0, message(1), into).error().code(), ErrorCode::kStale);
  FrameHeader next = message(1);
  next.generation = 2;
  ASSERT_TRUE(two.a.send(1, next, pattern(10, 77)));
  EXPECT_TRUE(two.b.recv(0, next, into)) << "the next generation is not cancelled";
  EXPECT_EQ(into, pattern(10, 77));
  FrameHeader other_group = message(1);
  other_group.group = 4;
  ASSERT_TRUE(two.a.send(1, other_group, pattern(10, 78)));
  EXPECT_TRUE(two.b.recv(0, other_group, into)) << "another group is not cancelled";
}

TEST(Exchange, CancelDropsPendingSends) {
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

// Once cancel() has returned, no buffer is written and no callback runs, even while messages arrive.
TEST(Exchange, CancelIsSafeWhileMessagesComeIn) {
  struct Story {
    explicit Story(std::uint64_t seed) : payload(pattern(50'000, seed)), into(payload.size()) {}
    std::vector<std::byte> payload;
    std::vector<std::byte> into;
    std::atomic<int> num_called = 0;
    int num_called_by_cancel = 0;
  };
  Two two;
  std::deque<Story> stories;
  for (std::uint32_t generation = 1; generation <= 30; ++generation) {
    Story& story = stories.emplace_back(generation);
    std::latch first(1);
    for (std::uint64_t i = 0; i < 8; ++i) {
      FrameHeader header = message(i);
      header.generation = generation;
      two.b->recv(0, header, story.into, [&](const Status&) {
        if (++story.num_called == 1) first.count_down();
      });
      two.a->send(1, header, story.payload, {});
    }
    first.wait();
    two.b->cancel(3, generation);
    story.num_called_by_cancel = story.num_called;
    std::fill(story.into.begin(), story.into.end(), std::byte{0xaa});
    two.a->cancel(3, generation);
  }
  FrameHeader last = message(0);
  last.generation = 31;
  ASSERT_TRUE(two.a.send(1, last, {}));
  for (const Story& story : stories) {
    EXPECT_EQ(story.num_called, story.num_called_by_cancel);
    EXPECT_EQ(std::count(story.into.begin(), story.into.end(), std::byte{0xaa}), 50'000);
  }
}

TEST(Exchange, AMemberThatSendsBeyondTheCapIsLost) {
  Two two({.unexpected_cap_bytes = 1000});
  std::latch lost(1);
  two.b->on_loss([&](int, const Error& why) {
    EXPECT_EQ(why.message(), "member 0 sent more than 1000 B that nothing was waiting for");
    lost.count_down();
  });
  const auto unheld = [](std::uint64_t number) {
    FrameHeader header = message(number);
    header.channel = Channel::kRequest;
    return header;
  };
  ASSERT_TRUE(two.a.send(1, unheld(1), pattern(600, 1)));
  std::vector<std::byte> into(600);
  ASSERT_TRUE(two.b.recv(0, unheld(1), into));
  ASSERT_TRUE(two.a.send(1, unheld(2), pattern(1000, 1))) << "received messages do not count against the cap";
  EXPECT_FALSE(two.b->loss(0));
  std::ignore = two.a.send(1, unheld(3), pattern(1, 1));
  lost.wait();
}

TEST(Exchange, AMemberThatHoldsMessagesBackIsNotLost) {
  Two two({.unexpected_cap_bytes = 1000});
  std::vector<Waiting> sent(20);
  const std::vector<std::byte> payload = pattern(300, 1);
  for (std::size_t i = 0; i < sent.size(); ++i) two.a->send(1, message(i), payload, sent[i].callback());
  FrameHeader request = message(99);
  request.channel = Channel::kRequest;
  ASSERT_TRUE(two.a.send(1, request, pattern(500, 2))) << "half of the cap is left for requests";
  std::vector<std::byte> into(500);
  ASSERT_TRUE(two.b.recv(0, request, into));
  EXPECT_FALSE(sent.back().is_done());
  // A handler takes all of them, as receives would.
  std::latch all(20);
  two.b->handle(Channel::kMessage, 3,
                [&](int, const FrameHeader&, const std::vector<std::byte>&) { all.count_down(); });
  all.wait();
  for (const Waiting& each : sent) EXPECT_TRUE(each.wait());
  EXPECT_FALSE(two.b->loss(0));
}

TEST(Exchange, AMemberWhoseOfferIsCorruptIsLost) {
  for (const Channel channel : {Channel::kOffer, Channel::kCallFor}) {
    for (const std::size_t size : {7u, 26u, 200u}) {
      Two two;
      std::latch lost(1);
      two.b->on_loss([&](int, const Error& why) {
        EXPECT_EQ(why.code(), ErrorCode::kPeerLost);
        lost.count_down();
      });
      std::ignore = two.a.send(1, {.channel = channel}, pattern(size, 1));
      lost.wait();
    }
  }
}

TEST(Exchange, AnAskedForMessageMayBeLargerThanTheCap) {
  Two two({.unexpected_cap_bytes = 10});
  std::vector<std::byte> into(1000);
  Waiting received;
  two.b->recv(0, message(1), into, received.callback());
  ASSERT_TRUE(two.a.send(1, message(1), pattern(1000, 1)));
  EXPECT_TRUE(received.wait());
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
    ASSERT_TRUE(b.recv(0, message(i % 2), into));
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
          me->recv((rank.rank() + 2) % 3, header, into, received.callback());
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

#include "comm/exchange/exchange_mailbox.h"

#include "base/check.h"
#include "comm/exchange_member.h"
#include "comm/networks/loopback.h"
#include "comm/number_bytes.h"
#include "world/world.h"

#include <atomic>
#include <gtest/gtest.h>
#include <latch>

namespace cohort::test {
namespace {

using comm::MailboxOptions;
using comm::make_loopback;
using comm::make_mailbox;
using namespace std::chrono_literals;

constexpr std::uint32_t kEcho = 1;
constexpr std::uint32_t kCount = 2;
constexpr std::uint32_t kNobody = 99;

TimePoint soon(std::chrono::nanoseconds limit = 15s) {
  return std::chrono::steady_clock::now() + limit;
}

/// The exchange and the mailbox of one rank; the mailbox may be destroyed early.
struct Postbox {
  explicit Postbox(std::unique_ptr<comm::Transport> transport, MailboxOptions options = {},
                   comm::Exchange::Options exchange = {})
      : member(std::move(transport), exchange),
        mailbox(make_mailbox(member.exchange(), member.progress(), options)) {
    mailbox->serve(kEcho, [](int, std::span<const std::byte> request) -> Result<Bytes> {
      return Bytes(request.begin(), request.end());
    });
  }
  Mailbox* operator->() { return mailbox.get(); }

  ExchangeMember member;
  std::unique_ptr<Mailbox> mailbox;
};

/// Two members in one thread, for tests of one request and its reply. Objects that handlers use must outlive
/// the pair: the last handler may still run when the test body ends.
struct Pair {
  explicit Pair(MailboxOptions options = {}, comm::Exchange::Options exchange = {})
      : network(make_loopback(2)),
        asks(network->take(0), options, exchange),
        answers(network->take(1), options, exchange) {}

  std::shared_ptr<comm::LoopbackNetwork> network;
  Postbox asks;
  Postbox answers;
};

TEST(Mailbox, RequestsOfAnySizeComeBack) {
  for (const int n : {1, 2, 3}) {
    const auto network = make_loopback(n);
    const auto outcome = run_world(n, [&](RankContext& rank) -> Status {
      Postbox post(network->take(rank.rank()));
      COHORT_RETURN_IF_ERROR(rank.barrier());
      for (const std::size_t size :
           {std::size_t{0}, std::size_t{1}, std::size_t{4097}, (std::size_t{1} << 20) + 3}) {
        for (int to = 0; to < n; ++to) {
          const Bytes request = pattern(size, static_cast<std::uint64_t>(to));
          COHORT_ASSIGN_OR_RETURN(const Bytes reply, post->call(to, kEcho, request, soon()));
          if (reply != request) return rank.failure("{} bytes came back from {} changed", size, to);
        }
      }
      return rank.barrier();
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(Mailbox, ThousandsInFlightFindTheirOwnReplies) {
  constexpr std::uint64_t kCalls = 3000;
  const auto network = make_loopback(3);
  const auto outcome = run_world(3, [&](RankContext& rank) -> Status {
    Postbox post(network->take(rank.rank()));
    const auto own = static_cast<std::uint64_t>(rank.rank());
    post->serve(kCount, [own](int from, std::span<const std::byte> request) -> Result<Bytes> {
      return bytes_of(value_of(request) * 100 + own * 10 + static_cast<std::uint64_t>(from));
    });
    COHORT_RETURN_IF_ERROR(rank.barrier());
    std::latch all(kCalls);
    std::atomic<std::uint64_t> num_right = 0;
    for (std::uint64_t i = 0; i < kCalls; ++i) {
      const std::uint64_t to = i % 3;
      post->start(static_cast<int>(to), kCount, bytes_of(i), soon(), [&, i, to](Result<Bytes> reply) {
        if (reply && value_of(*reply) == i * 100 + to * 10 + own) ++num_right;
        all.count_down();
      });
    }
    all.wait();
    if (num_right != kCalls) return rank.failure("only {} of {} were right", num_right.load(), kCalls);
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Mailbox, RepliesAreMatchedInWhateverOrderTheyCome) {
  std::latch last_has_come(1);
  std::mutex mutex;
  std::vector<std::uint64_t> order;
  std::latch all(3);
  Pair pair;
  pair.answers->serve(kCount, [&](int, std::span<const std::byte> request) -> Result<Bytes> {
    if (value_of(request) == 2) last_has_come.count_down();
    if (value_of(request) == 0) last_has_come.wait();
    return Bytes(request.begin(), request.end());
  });
  for (std::uint64_t i = 0; i < 3; ++i) {
    pair.asks->start(1, kCount, bytes_of(i), soon(), [&, i](const Result<Bytes>& reply) {
      {
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(reply && value_of(*reply) == i);
        order.push_back(i);
      }
      all.count_down();
    });
  }
  all.wait();
  EXPECT_EQ(order.size(), 3u);
  EXPECT_NE(order.front(), 0u);
}

TEST(Mailbox, TheEndOfItsGenerationEndsItsCalls) {
  std::latch asked(1);
  std::latch over(1);
  Pair pair;
  pair.answers->serve(kCount, [&](int, std::span<const std::byte>) -> Result<Bytes> {
    asked.count_down();
    over.wait();
    return Bytes();
  });
  std::jthread ending([&] {
    asked.wait();
    pair.asks.member.exchange().end(Error(ErrorCode::kStale, "generation 0 is over"), comm::Ending::kQuiet);
  });
  EXPECT_EQ(pair.asks->call(1, kCount, {}, soon()).error().code(), ErrorCode::kStale);
  EXPECT_EQ(pair.asks->call(1, kEcho, {}, soon()).error().code(), ErrorCode::kStale);
  over.count_down();
}

TEST(Mailbox, AHandlersErrorTravelsWithItsCodeAndWords) {
  Pair pair;
  pair.answers->serve(kCount, [](int, std::span<const std::byte>) -> Result<Bytes> {
    return Error(ErrorCode::kDiskFull, "no space").within("cannot save").with_remedy("Delete something.");
  });
  const Result<Bytes> reply = pair.asks->call(1, kCount, {}, soon());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kDiskFull);
  EXPECT_EQ(reply.error().text(),
            "member 1 refuses a request of kind 2: cannot save: no space. Delete something.");
}

TEST(Mailbox, AHandlerThatThrowsAnswersWithThat) {
  Pair pair;
  pair.answers->serve(kCount, [](int, std::span<const std::byte>) -> Result<Bytes> {
    COHORT_CHECK_EQ(1, 2);
    return Bytes{};
  });
  const Result<Bytes> reply = pair.asks->call(1, kCount, {}, soon());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kBug);
  EXPECT_TRUE(pair.asks->call(1, kEcho, {}, soon()));
}

TEST(Mailbox, ARequestWithoutAHandlerIsNotFound) {
  Pair pair;
  const Result<Bytes> reply = pair.asks->call(1, kNobody, {}, soon());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kNotFound);
}

TEST(Mailbox, AMemberThatDoesNotExistIsTheUsersMistake) {
  Pair pair;
  for (const int to : {-1, 2})
    EXPECT_EQ(pair.asks->call(to, kEcho, {}, soon()).error().code(), ErrorCode::kUsage);
}

TEST(Mailbox, MessagesBeyondTheCapAreRefusedOnBothSides) {
  Pair pair({.message_cap_bytes = 10});
  EXPECT_TRUE(pair.asks->call(1, kEcho, pattern(10, 1), soon()));
  EXPECT_EQ(pair.asks->call(1, kEcho, pattern(11, 1), soon()).error().code(), ErrorCode::kUsage);
  pair.answers->serve(kCount, [](int, std::span<const std::byte>) -> Result<Bytes> { return Bytes(11); });
  EXPECT_EQ(pair.asks->call(1, kCount, {}, soon()).error().code(), ErrorCode::kExhausted);
}

TEST(Mailbox, ACallEndsAtItsDeadline) {
  std::latch over(1);
  Pair pair;
  pair.answers->serve(kCount, [&](int, std::span<const std::byte>) -> Result<Bytes> {
    over.wait();
    return Bytes{};
  });
  const Result<Bytes> reply = pair.asks->call(1, kCount, {}, soon(20ms));
  over.count_down();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kTimedOut);
  EXPECT_TRUE(pair.asks->call(1, kEcho, {}, soon())) << "the late reply must not disturb the next call";
}

TEST(Mailbox, ADeadlineInThePastEndsTheCall) {
  Pair pair;
  pair.answers.member.freeze();
  EXPECT_EQ(pair.asks->call(1, kEcho, {}, TimePoint{}).error().code(), ErrorCode::kTimedOut);
}

TEST(Mailbox, ALostMemberEndsEveryCallToItAtOnce) {
  std::latch ended(2);
  std::latch arrived(2);
  std::latch may_return(1);
  std::vector<ErrorCode> codes(2, ErrorCode::kBug);
  const auto network = make_loopback(3);
  Postbox asks(network->take(0));
  Postbox stays(network->take(2));
  {
    Postbox leaves(network->take(1));
    leaves->serve(kCount, [&](int, std::span<const std::byte>) -> Result<Bytes> {
      arrived.count_down();
      may_return.wait();
      return Bytes{};
    });
    for (std::size_t i = 0; i < 2; ++i) {
      asks->start(1, kCount, {}, soon(), [&, i](const Result<Bytes>& reply) {
        if (!reply) codes[i] = reply.error().code();
        ended.count_down();
      });
    }
    arrived.wait();
    leaves.member.leave();
    may_return.count_down();
  }
  ended.wait();
  EXPECT_EQ(codes[0], ErrorCode::kPeerLost);
  EXPECT_EQ(codes[1], ErrorCode::kPeerLost);
  EXPECT_EQ(asks->call(1, kEcho, {}, soon()).error().code(), ErrorCode::kPeerLost)
      << "every later call fails, too";
  EXPECT_TRUE(asks->call(2, kEcho, {}, soon()));
}

TEST(Mailbox, ACloseEndsOwnCallsAndAnswersLaterOnes) {
  std::latch arrived(1);
  std::latch may_return(1);
  std::latch ended(1);
  Pair pair;
  pair.answers->serve(kCount, [&](int, std::span<const std::byte>) -> Result<Bytes> {
    arrived.count_down();
    may_return.wait();
    return Bytes{};
  });
  pair.asks->start(1, kCount, {}, soon(), [&](const Result<Bytes>& reply) {
    EXPECT_EQ(reply.error().code(), ErrorCode::kAborted);
    ended.count_down();
  });
  arrived.wait();
  pair.asks.mailbox.reset();
  EXPECT_TRUE(ended.try_wait()) << "the destructor of the mailbox ends its calls";
  may_return.count_down();
  const Result<Bytes> reply = pair.answers->call(0, kEcho, {}, soon());
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), ErrorCode::kAborted);
}

// Every request makes the other member send a request back, nested deeper than the number of handler threads.
TEST(Mailbox, NestedCallsDoNotWaitForEachOther) {
  for (const int running_cap : {1, 4}) {
    Pair pair({.running_cap = running_cap});
    const auto count_down = [](Postbox& own, int other) {
      return [&own, other](int, std::span<const std::byte> request) -> Result<Bytes> {
        const std::uint64_t depth = value_of(request);
        if (depth == 0) return bytes_of(0);
        COHORT_ASSIGN_OR_RETURN(const Bytes below, own->call(other, kCount, bytes_of(depth - 1), soon()));
        return bytes_of(value_of(below) + 1);
      };
    };
    pair.asks->serve(kCount, count_down(pair.asks, 1));
    pair.answers->serve(kCount, count_down(pair.answers, 0));
    const Result<Bytes> reply = pair.asks->call(1, kCount, bytes_of(40), soon());
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(value_of(*reply), 40u);
  }
}

TEST(Mailbox, NestingBeyondTheThreadsIsRefusedNotHung) {
  Pair pair({.running_cap = 1, .thread_cap = 4});
  const auto ask_back = [](Postbox& own, int other) {
    return [&own, other](int, std::span<const std::byte>) -> Result<Bytes> {
      return own->call(other, kCount, {}, soon());
    };
  };
  pair.asks->serve(kCount, ask_back(pair.asks, 1));
  pair.answers->serve(kCount, ask_back(pair.answers, 0));
  EXPECT_EQ(pair.asks->call(1, kCount, {}, soon()).error().code(), ErrorCode::kExhausted);
}

TEST(Mailbox, ManyThreadsMayCallAtOnce) {
  Pair pair;
  std::vector<std::thread> threads;
  std::atomic<int> num_right = 0;
  for (std::uint64_t t = 0; t < 5; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 100; ++i) {
        const Bytes request = bytes_of(t * 1000 + i);
        Postbox& from = i % 2 == 0 ? pair.asks : pair.answers;
        const Result<Bytes> reply = from->call(i % 3 == 0 ? 1 : 0, kEcho, request, soon());
        if (reply && *reply == request) ++num_right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_right, 500);
}

TEST(Mailbox, TwoGroupsShareAnExchange) {
  const auto network = make_loopback(2);
  ExchangeMember one(network->take(0));
  ExchangeMember two(network->take(1));
  const auto a = make_mailbox(one.exchange(), one.progress(), {.group = 1});
  const auto b = make_mailbox(one.exchange(), one.progress(), {.group = 2});
  const auto a_answers = make_mailbox(two.exchange(), two.progress(), {.group = 1});
  const auto b_answers = make_mailbox(two.exchange(), two.progress(), {.group = 2});
  a_answers->serve(kCount, [](int, std::span<const std::byte>) -> Result<Bytes> { return bytes_of(1); });
  b_answers->serve(kCount, [](int, std::span<const std::byte>) -> Result<Bytes> { return bytes_of(2); });
  EXPECT_EQ(value_of(*a->call(1, kCount, {}, soon())), 1u);
  EXPECT_EQ(value_of(*b->call(1, kCount, {}, soon())), 2u);
}

TEST(Mailbox, RequestsBeforeTheMailboxIsThereWait) {
  std::latch answered(1);
  const auto network = make_loopback(2);
  Postbox asks(network->take(0));
  ExchangeMember late(network->take(1));
  asks->start(1, kEcho, bytes_of(7), soon(), [&](const Result<Bytes>& reply) {
    // The request is handled as soon as there is a mailbox, which may be before it serves this kind.
    EXPECT_TRUE(reply || reply.error().code() == ErrorCode::kNotFound) << reply.error().text();
    answered.count_down();
  });
  // Messages stay in order: once the mailbox of another group has answered, the request above has arrived.
  const auto other = make_mailbox(late.exchange(), late.progress(), {.group = 2});
  const auto asks_other = make_mailbox(asks.member.exchange(), asks.member.progress(), {.group = 2});
  EXPECT_EQ(asks_other->call(1, kEcho, {}, soon()).error().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(answered.try_wait()) << "there is no mailbox that could answer";
  const auto mailbox = make_mailbox(late.exchange(), late.progress());
  mailbox->serve(kEcho, [](int, std::span<const std::byte>) -> Result<Bytes> { return Bytes{}; });
  answered.wait();
}

}  // namespace
}  // namespace cohort::test

#include "comm/exchange/exchange.h"

#include "base/manual_clock.h"
#include "comm/exchange_member.h"
#include "comm/networks/loopback.h"

#include <atomic>
#include <gtest/gtest.h>
#include <latch>

namespace cohort::test {
namespace {

using comm::Channel;
using comm::FrameHeader;
using comm::make_loopback;
using namespace std::chrono_literals;

FrameHeader message(std::uint64_t number) {
  return {.channel = Channel::kMessage, .group = 3, .generation = 1, .number = number};
}

TEST(ExchangeLoss, ALostMemberEndsItsReceivesAndSends) {
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
    for (std::size_t i = 0; i < 2; ++i) a->recv(1, message(i), into, waits[i].callback());
    for (std::size_t i = 2; i < 4; ++i) a->send(1, message(i), into, waits[i].callback());
  }
  for (const Waiting& wait : waits) EXPECT_EQ(wait.wait().error().code(), ErrorCode::kPeerLost);
  EXPECT_EQ(a.recv(1, message(7), into).error().code(), ErrorCode::kPeerLost) << "later receives fail, too";
  EXPECT_EQ(a.send(1, message(7), into).error().code(), ErrorCode::kPeerLost);
  EXPECT_TRUE(a.recv(1, message(50), into)) << "a message that arrived before the loss can be received";
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
  told.wait();  // the callback reports a loss that was before the call
  a->remove_loss_handler(late);
  ASSERT_TRUE(a.send(2, message(1), into)) << "other members are not lost";
}

TEST(ExchangeEnd, ReachesHandlersOfBeforeAndAfterAndTheFirstCounts) {
  const auto network = make_loopback(1);
  ExchangeMember a(network->take(0));
  std::latch told(2);
  const auto hear = [&](const Error& why, comm::Ending ending) {
    EXPECT_EQ(why.code(), ErrorCode::kStale);
    EXPECT_EQ(ending, comm::Ending::kQuiet);
    told.count_down();
  };
  const int early = a->on_end(hear);
  const int removed = a->on_end([](const Error&, comm::Ending) { ADD_FAILURE(); });
  a->remove_end_handler(removed);
  a->end(Error(ErrorCode::kStale, "over"), comm::Ending::kQuiet);
  a->end(Error(ErrorCode::kAborted, "over again"), comm::Ending::kTold);
  const int late = a->on_end(hear);
  told.wait();
  a->remove_end_handler(early);
  a->remove_end_handler(late);
}

TEST(ExchangeLoss, AFrozenMemberIsLostOnlyWhileSomebodyWatches) {
  const auto network = make_loopback(3);
  const comm::Exchange::Options options = {.liveness = 40ms};
  ExchangeMember a(network->take(0), options);
  ExchangeMember b(network->take(1), options);
  ExchangeMember c(network->take(2), options);
  std::vector<std::byte> into(3);
  b.freeze();
  Waiting unwatched;
  a->recv(1, message(1), into, unwatched.callback());
  EXPECT_EQ(unwatched.wait(120ms).error().code(), ErrorCode::kTimedOut)
      << "without watch() a frozen member is not detected";
  EXPECT_FALSE(unwatched.is_done());
  a->watch();
  const Status status = unwatched.wait();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kPeerLost);
  EXPECT_EQ(status.error().message(), "member 1 gave no sign of life for 40 ms");
  EXPECT_FALSE(a->loss(2)) << "a member that answers probes is alive, though it sends no messages";
  a->unwatch();
}

TEST(ExchangeLoss, ASilentMemberIsReportedWithTheCallThatWaits) {
  struct Caller : comm::Waiter {
    std::string waiting_call() const override { return "rank 0: barrier, call 7"; }
  };
  ManualClock clock;
  const auto network = make_loopback(2);
  comm::LocalDoorbell bell;
  std::vector<std::string> warnings;
  comm::Exchange a(network->take(0), clock,
                   {.liveness = 10s, .warn = [&](const std::string& text) { warnings.push_back(text); }});
  a.open(bell);
  const Caller caller;
  a.watch(&caller);
  for (int i = 0; i < 9; ++i) {
    clock.advance(100ms);
    a.advance();
  }
  a.unwatch(&caller);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(
      warnings[0].find("rank 1 has shown no sign of life for 500 ms, while rank 0: barrier, call 7 waits"),
      std::string::npos)
      << warnings[0];
}

TEST(ExchangeLoss, APauseOfAllMembersLosesNoMember) {
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
  EXPECT_FALSE(a.loss(1)) << "this member did not run either, so silence proves nothing";
  for (int tick = 0; tick < 9; ++tick) {
    clock.advance(10ms);
    a.advance();
  }
  EXPECT_FALSE(a.loss(1)) << "the liveness limit has not passed";
  b.advance();
  for (int tick = 0; tick < 9; ++tick) {
    clock.advance(10ms);
    a.advance();
  }
  EXPECT_FALSE(a.loss(1)) << "the peer has sent a sign of life";
  for (int tick = 0; tick < 4; ++tick) {
    clock.advance(10ms);
    a.advance();
    a.advance();
  }
  EXPECT_TRUE(a.loss(1));
  a.close();
  b.close();
}

TEST(ExchangeLoss, SilenceOfAnEarlierWatchDoesNotCount) {
  ManualClock clock;
  const auto network = make_loopback(2);
  comm::LocalDoorbell bell;
  comm::Exchange a(network->take(0), clock, {.liveness = 100ms});
  comm::Exchange silent(network->take(1), clock, {.liveness = 100ms});
  a.open(bell);
  silent.open(bell);
  for (int watch = 0; watch < 3; ++watch) {
    a.watch();
    for (int tick = 0; tick < 6; ++tick) {
      clock.advance(10ms);
      a.advance();
    }
    EXPECT_FALSE(a.loss(1)) << "in watch " << watch;
    a.unwatch();
  }
  a.close();
  silent.close();
}

}  // namespace
}  // namespace cohort::test

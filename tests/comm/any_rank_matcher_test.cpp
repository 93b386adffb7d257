#include "comm/message_passing/any_rank_matcher.h"

#include "comm/exchange_member.h"
#include "comm/message_passing/inbox.h"
#include "comm/networks/loopback.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using comm::AnyRankMatcher;

/// Rank 0 of three, which listens under tag 7.
struct Listener {
  std::shared_ptr<comm::LoopbackNetwork> network = comm::make_loopback(3);
  ExchangeMember member{network->take(0)};
  comm::Line line{member.exchange(), std::make_shared<comm::Inbox>(), {.members = {0, 1, 2}, .rank = 0}};
  AnyRankMatcher matcher{1, 7, {0, 0, 0}};
};

TEST(AnyRankMatcher, MessagesAreTakenInTheOrderOfArrival) {
  Listener listener;
  listener.matcher.receive_from_all(listener.line);
  listener.matcher.add_announced(2);
  listener.matcher.add_announced(1);
  EXPECT_EQ(listener.matcher.take(kAnyRank, listener.line)->rank, 2);
  EXPECT_EQ(listener.matcher.take(kAnyRank, listener.line)->rank, 1);
  EXPECT_FALSE(listener.matcher.take(kAnyRank, listener.line));
  listener.line.cancel();
}

TEST(AnyRankMatcher, ANamedRankIsTakenBeforeEarlierMessagesOfOthers) {
  Listener listener;
  listener.matcher.receive_from_all(listener.line);
  listener.matcher.add_announced(2);
  listener.matcher.add_announced(1);
  listener.matcher.add_announced(2);
  EXPECT_EQ(listener.matcher.take(1, listener.line)->rank, 1);
  EXPECT_FALSE(listener.matcher.take(1, listener.line));
  EXPECT_EQ(listener.matcher.take(kAnyRank, listener.line)->number, 0u);
  EXPECT_EQ(listener.matcher.take(2, listener.line)->number, 1u);
  listener.line.cancel();
}

}  // namespace
}  // namespace cohort::test

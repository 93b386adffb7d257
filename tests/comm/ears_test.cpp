#include "comm/scheduled/ears.h"

#include "comm/exchange_member.h"
#include "comm/scheduled/inbox.h"
#include "comm/transport/loopback.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using comm::Ears;

/// Rank 0 of three, which listens under tag 7.
struct Listener {
  std::shared_ptr<comm::LoopbackNetwork> network = comm::make_loopback(3);
  ExchangeMember member{network->take(0)};
  comm::Line line{member.exchange(), std::make_shared<comm::Inbox>(), {.members = {0, 1, 2}, .rank = 0}};
  Ears ears{1, 7, {0, 0, 0}};
};

TEST(Ears, WhoWasHeardFirstIsTakenFirst) {
  Listener listener;
  listener.ears.listen_to_all(listener.line);
  listener.ears.hear(2);
  listener.ears.hear(1);
  EXPECT_EQ(listener.ears.take(kAnyRank, listener.line)->rank, 2);
  EXPECT_EQ(listener.ears.take(kAnyRank, listener.line)->rank, 1);
  EXPECT_FALSE(listener.ears.take(kAnyRank, listener.line));
  listener.line.cancel();
}

TEST(Ears, WhoIsNamedIsTakenBeforeOthersThatWereHeardFirst) {
  Listener listener;
  listener.ears.listen_to_all(listener.line);
  listener.ears.hear(2);
  listener.ears.hear(1);
  listener.ears.hear(2);
  EXPECT_EQ(listener.ears.take(1, listener.line)->rank, 1);
  EXPECT_FALSE(listener.ears.take(1, listener.line));
  EXPECT_EQ(listener.ears.take(kAnyRank, listener.line)->number, 0u);
  EXPECT_EQ(listener.ears.take(2, listener.line)->number, 1u);
  listener.line.cancel();
}

}  // namespace
}  // namespace cohort::test

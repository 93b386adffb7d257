#include "comm/exchange_member.h"
#include "comm/progress/progress.h"
#include "soak.h"
#include "ucx/ucx_network.h"

#include <atomic>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using comm::FrameHeader;

// Tests that payloads too long to be copied, and the buffers that receive them, are free when withdraw() has
// returned.

/// A sink with one buffer for all messages, as an Exchange has one per receive; closed when the group is
/// withdrawn.
class OneBuffer final : public comm::FrameSink {
 public:
  explicit OneBuffer(std::span<std::byte> room) : room_(room) {}

  std::span<std::byte> buffer_for(int, const FrameHeader& header) override {
    ++num_placed;
    return is_open ? room_.first(header.size_bytes) : std::span<std::byte>();
  }
  void arrived(int, const FrameHeader&) override { ++num_arrived; }
  void withdrawn(int, const FrameHeader&) override {}
  void lost(int, const Error&) override { ++num_lost; }

  std::atomic<bool> is_open = true;
  std::atomic<int> num_placed = 0;
  std::atomic<int> num_arrived = 0;
  std::atomic<int> num_lost = 0;

 private:
  std::span<std::byte> room_;
};

constexpr std::size_t kLong = std::size_t{8} << 20;

struct Pair {
  Pair() : sink_a({}), sink_b(room) {
    a->open(sink_a, *bell_a);
    b->open(sink_b, *bell_b);
  }
  ~Pair() {
    // close() waits for the farewell of the peer, so both are closed at the same time.
    std::jthread other([this] { b->close(); });
    a->close();
  }
  template <class Done>
  bool advance_until(const Done& done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    while (!done() && std::chrono::steady_clock::now() < until) {
      a->advance();
      b->advance();
    }
    return done();
  }

  UcxNetwork network{2};
  std::unique_ptr<comm::Transport> a = network.take(0);
  std::unique_ptr<comm::Transport> b = network.take(1);
  std::unique_ptr<comm::Doorbell> bell_a = network.make_doorbell(0);
  std::unique_ptr<comm::Doorbell> bell_b = network.make_doorbell(1);
  std::vector<std::byte> room = std::vector<std::byte>(kLong);
  OneBuffer sink_a;
  OneBuffer sink_b;
};

#define COHORT_SKIP_WITHOUT_UCX() \
  if (!UcxNetwork::is_there()) GTEST_SKIP() << "UCX is missing"

TEST(Withdraw, AReceiverThatWithdrawsItsGroupIsNotWrittenToAnyMore) {
  COHORT_SKIP_WITHOUT_UCX();
  Pair pair;
  const std::vector<std::byte> payload = pattern(kLong, 3);
  pair.a->send(1, {.group = 4, .size_bytes = kLong}, payload, {});
  ASSERT_TRUE(pair.advance_until([&] { return pair.sink_b.num_placed == 1; }));
  std::jthread sender([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) pair.a->advance();
  });
  pair.sink_b.is_open = false;
  pair.b->withdraw(4, 0);
  std::fill(pair.room.begin(), pair.room.end(), std::byte{0});
  for (int i = 0; i < 1000; ++i) pair.b->advance();
  sender.request_stop();
  sender.join();
  ASSERT_TRUE(pair.advance_until([&] { return pair.sink_b.num_arrived == 1; }));
  EXPECT_EQ(pair.room, std::vector<std::byte>(kLong));
  EXPECT_EQ(pair.sink_b.num_lost, 0);
}

TEST(Withdraw, ASenderIsNotReadFromAnyMore) {
  COHORT_SKIP_WITHOUT_UCX();
  Pair pair;
  std::vector<std::byte> payload = pattern(kLong, 3);
  const std::vector<std::byte> original = payload;
  std::atomic<int> num_called = 0;
  pair.a->send(1, {.group = 4, .size_bytes = kLong}, payload, [&](const Status&) { ++num_called; });
  ASSERT_TRUE(pair.advance_until([&] { return pair.sink_b.num_placed == 1; }));
  std::jthread receiver([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) pair.b->advance();
  });
  pair.a->withdraw(4, 0);
  std::fill(payload.begin(), payload.end(), std::byte{0});
  receiver.request_stop();
  receiver.join();
  ASSERT_TRUE(pair.advance_until([&] { return pair.sink_b.num_arrived == 1; }));
  EXPECT_EQ(pair.room, original);
  EXPECT_EQ(num_called, 0);
}

TEST(Withdraw, TwoAtTheSameTimeDoNotLoseEachOther) {
  COHORT_SKIP_WITHOUT_UCX();
  if (!is_soak()) GTEST_SKIP() << "UCX 1.13 jumped to read-only data of libuct in 1 of 120 runs under load";
  Pair pair;
  pair.sink_a.is_open = false;
  const std::vector<std::byte> payload = pattern(kLong, 3);
  std::atomic<int> num_begun = 0;
  std::atomic<int> num_done = 0;
  const auto send_and_withdraw = [&](comm::Transport& from, int to) {
    from.send(to, {.group = 4, .size_bytes = kLong}, payload, {});
    from.advance();
    for (++num_begun; num_begun < 2;) continue;
    from.withdraw(4, 0);
    for (++num_done; num_done < 2;) from.advance();
  };
  std::jthread other([&] { send_and_withdraw(*pair.b, 0); });
  send_and_withdraw(*pair.a, 1);
  other.join();
  pair.b->send(0, {.size_bytes = 0}, {}, {});
  EXPECT_TRUE(pair.advance_until([&] { return pair.sink_a.num_arrived >= 1; }));
  EXPECT_EQ(pair.sink_a.num_lost + pair.sink_b.num_lost, 0);
}

TEST(Withdraw, AMemberThatDoesNotGoOnIsLostWithinTheLimit) {
  COHORT_SKIP_WITHOUT_UCX();
  if (!is_soak()) GTEST_SKIP() << "UCX 1.13 crashes in ucs_event_set_wait in 11 of 45 runs";
  Pair pair;
  {
    const std::vector<std::byte> payload = pattern(kLong, 3);
    pair.a->send(1, {.group = 4, .size_bytes = kLong}, payload, {});
    ASSERT_TRUE(pair.advance_until([&] { return pair.sink_b.num_placed == 1; }));
    pair.a->withdraw(4, 0);  // b is not advanced
  }
  EXPECT_TRUE(pair.advance_until([&] { return pair.sink_a.num_lost == 1; }));
  EXPECT_TRUE(pair.advance_until([&] { return pair.sink_b.num_lost == 1; }));
}

}  // namespace
}  // namespace cohort::test

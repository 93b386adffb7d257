#include "comm/exchange_member.h"
#include "net/proxy.h"
#include "net/tcp_transport.h"
#include "world/world.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using comm::FrameHeader;
using net::SocketAddress;

/// Records the numbers of messages in the order of arrival; 0 for a wrong payload.
struct Numbers final : comm::FrameSink {
  std::span<std::byte> buffer_for(int, const FrameHeader& header) override {
    room.resize(header.size_bytes);
    return room;
  }
  void arrived(int, const FrameHeader& header) override {
    const bool is_whole = room == pattern(header.size_bytes, header.number);
    const std::lock_guard lock(mutex);
    numbers.push_back(is_whole ? header.number : 0);
    changed.notify_all();
  }
  void withdrawn(int, const FrameHeader&) override {}
  void heard(int) override {
    const std::lock_guard lock(mutex);
    if (!measure_silence) return;
    const int now = measure_silence();
    if (heard_at > 0) longest_silence = std::max(longest_silence, now - heard_at);
    heard_at = now;
  }
  void lost(int, const Error& why) override {
    const std::lock_guard lock(mutex);
    loss = why;
    changed.notify_all();
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 20s, [&] { return numbers.size() >= count || loss; }) && !loss;
  }
  std::optional<Error> wait_for_loss() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, 20s, [&] { return loss.has_value(); });
    return loss;
  }

  std::function<int()> measure_silence;
  int heard_at = 0;
  int longest_silence = 0;
  std::vector<std::byte> room;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::uint64_t> numbers;
  std::optional<Error> loss;
};

struct Member {
  using Addresses = std::vector<SocketAddress>;

  Member(int number, const std::array<Addresses, 2>& addresses, Descriptor listener, const net::JobKey& key,
         const net::TcpOptions& options)
      : doorbell(reactor),
        transport({.member = number,
                   .members = {{.addresses = addresses[0]}, {.addresses = addresses[1]}},
                   .key = key},
                  std::move(listener), reactor, clock, options),
        progress(doorbell) {
    transport.open(sink, doorbell);
    progress.add(transport);
  }
  ~Member() { leave(); }
  void leave() {
    progress.remove(transport);
    transport.close();
  }
  void send(int to, std::uint64_t number, std::size_t size) {
    const auto payload = std::make_shared<std::vector<std::byte>>(pattern(size, number));
    transport.send(to, {.number = number, .sequence = number, .size_bytes = size}, *payload,
                   [payload, this](const Status& status) {
                     if (status) ++num_sent;
                   });
  }

  Numbers sink;
  RealClock clock;
  net::Reactor reactor;
  net::SocketDoorbell doorbell;
  std::atomic<int> num_sent = 0;
  net::TcpTransport transport;
  comm::Progress progress;
};

/// Two members: member 1 connects to member 0 through a proxy, with kBoth also directly.
struct Pair {
  enum class Ways { kProxy, kBoth };
  explicit Pair(const net::TcpOptions& options, Ways ways = Ways::kProxy) {
    Descriptor first = value_or_throw(net::listen_at(*SocketAddress::parse("127.0.0.1:0")));
    Descriptor second = value_or_throw(net::listen_at(*SocketAddress::parse("127.0.0.1:0")));
    const Member::Addresses at = {*net::local_address(first)}, other = {*net::local_address(second)};
    proxy = std::make_unique<Proxy>(at[0]);
    const net::JobKey key = *net::JobKey::make();
    members[0] = std::make_unique<Member>(0, std::array{at, other}, std::move(first), key, options);
    Member::Addresses through = {proxy->address()};
    if (ways == Ways::kBoth) through.push_back(at[0]);
    members[1] = std::make_unique<Member>(1, std::array{through, other}, std::move(second), key, options);
  }

  std::unique_ptr<Proxy> proxy;
  std::unique_ptr<Member> members[2];
};

/// How members are connected.
struct Way {
  std::string name{};
  net::Secrecy secrecy = net::Secrecy::kClear;
  int num_rails = 1;

  net::TcpOptions options(std::chrono::nanoseconds return_limit) const {
    return {.secrecy = secrecy, .return_limit = return_limit, .num_rails = num_rails, .stripe_from = 1000};
  }
};

class Recovery : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Every, Recovery,
                         testing::Values(Way{"clear"}, Way{"tls", net::Secrecy::kTls},
                                         Way{"rails", net::Secrecy::kClear, 3}),
                         [](const auto& way) { return way.param.name; });

constexpr std::size_t kSizes[] = {0, 3, 5000, 100'000, 17, 1'000'000};
constexpr std::uint64_t kMessages = 300;

TEST_P(Recovery, CutAgainAndAgainNothingIsLostNorComesTwice) {
  Pair pair(GetParam().options(10s));
  pair.proxy->cut_after(400'000);
  for (std::uint64_t number = 1; number <= kMessages; ++number) {
    pair.members[0]->send(1, number, kSizes[number % std::size(kSizes)]);
    pair.members[1]->send(0, number, kSizes[(number + 2) % std::size(kSizes)]);
  }
  for (const auto& member : pair.members) {
    ASSERT_TRUE(member->sink.wait_for(kMessages))
        << (member->sink.loss ? member->sink.loss->text() : "too few came");
    for (std::uint64_t i = 0; i < kMessages; ++i) ASSERT_EQ(member->sink.numbers[i], i + 1);
  }
  EXPECT_GT(pair.proxy->num_connections(), 20);
  pair.proxy->cut_after(std::nullopt);
}

// A fast connection, whose low-water mark is high, becomes slow in the middle of a message. The message
// arrives all the same, and meanwhile heard() is called for the bytes that trickle in. Time is counted in
// trickles of the proxy, so that a slow machine does not fail the test.
TEST_P(Recovery, WhoBecomesSlowIsHeardOfAndGetsEverything) {
  Pair pair(GetParam().options(10s));
  constexpr std::size_t kSize = 4'000'000;
  const auto per_rail = kSize / static_cast<std::size_t>(GetParam().num_rails);
  pair.proxy->trickle_after(per_rail - 40'000, 100);
  Numbers& sink = pair.members[1]->sink;
  pair.members[0]->send(1, 1, kSize);
  {
    const std::lock_guard lock(sink.mutex);
    sink.measure_silence = [&] { return pair.proxy->num_trickles(); };
  }
  ASSERT_TRUE(sink.wait_for(1));
  const std::lock_guard lock(sink.mutex);
  EXPECT_EQ(sink.numbers, (std::vector<std::uint64_t>{1}));
  EXPECT_LT(sink.longest_silence, 200) << "of 400 trickles";
  sink.measure_silence = nullptr;
  EXPECT_EQ(pair.proxy->num_connections(), GetParam().num_rails) << "slow is not broken";
}

// One side notices the break and reconnects while the other still takes the old connection for alive.
TEST_P(Recovery, AHalfOpenConnectionIsReplaced) {
  Pair pair(GetParam().options(10s));
  pair.members[0]->send(1, 1, 10);
  ASSERT_TRUE(pair.members[1]->sink.wait_for(1));
  pair.proxy->cut_the_side_of_the_connector();
  pair.members[1]->send(0, 1, 200'000);
  pair.members[0]->send(1, 2, 200'000);
  EXPECT_TRUE(pair.members[0]->sink.wait_for(1));
  EXPECT_TRUE(pair.members[1]->sink.wait_for(2));
}

TEST_P(Recovery, WhoDoesNotComeBackIsLostWithinTheLimit) {
  Pair pair(GetParam().options(300ms));
  pair.members[0]->send(1, 1, 10);
  ASSERT_TRUE(pair.members[1]->sink.wait_for(1));
  pair.proxy->swallow();
  for (const auto& member : pair.members) {
    const auto loss = member->sink.wait_for_loss();
    ASSERT_TRUE(loss);
    EXPECT_EQ(loss->code(), ErrorCode::kPeerLost);
    EXPECT_NE(loss->text().find("did not reconnect in time"), std::string::npos) << loss->text();
  }
}

TEST(Recovery, AnAddressWhereNothingPassesIsLeftInTime) {
  Pair pair(net::TcpOptions{.return_limit = 2s, .greeting_limit = 20s}, Pair::Ways::kBoth);
  pair.members[1]->send(0, 1, 10);
  ASSERT_TRUE(pair.members[0]->sink.wait_for(1));
  pair.proxy->swallow();
  pair.members[1]->send(0, 2, 10);
  EXPECT_TRUE(pair.members[0]->sink.wait_for(2))
      << (pair.members[0]->sink.loss ? pair.members[0]->sink.loss->text() : "no loss");
}

TEST_P(Recovery, WhoIsGivenUpWhileAwayHearsIt) {
  Pair pair(GetParam().options(2s));
  pair.members[0]->send(1, 1, 10);
  ASSERT_TRUE(pair.members[1]->sink.wait_for(1));
  for (std::uint64_t number = 1; number < 20; ++number) pair.members[1]->send(0, number, 300'000);
  pair.proxy->cut_after(100'000);  // less than a message
  ASSERT_TRUE(pair.members[0]->sink.wait_for(3));
  pair.members[1]->transport.give_up(0, Error(ErrorCode::kPeerLost, "it was given up"));
  ASSERT_TRUE(pair.members[1]->sink.wait_for_loss());
  pair.proxy->cut_after(std::nullopt);
  EXPECT_TRUE(pair.members[0]->sink.wait_for_loss());
  const std::lock_guard lock(pair.members[0]->sink.mutex);
  for (const std::uint64_t number : pair.members[0]->sink.numbers) EXPECT_NE(number, 0u) << "wrong payload";
}

TEST_P(Recovery, AProcessThatEndedIsSeenAtOnce) {
  Pair pair(GetParam().options(1h));
  pair.members[0]->send(1, 1, 10);
  ASSERT_TRUE(pair.members[1]->sink.wait_for(1));
  pair.members[1].reset();
  EXPECT_TRUE(pair.members[0]->sink.wait_for_loss());
}

// The reason why member 1 loses member 0, which has other options.
std::optional<Error> disagreement(const net::TcpOptions& ours, const net::TcpOptions& theirs) {
  Descriptor first = value_or_throw(net::listen_at(*SocketAddress::parse("127.0.0.1:0")));
  Descriptor second = value_or_throw(net::listen_at(*SocketAddress::parse("127.0.0.1:0")));
  const std::array<Member::Addresses, 2> addresses = {Member::Addresses{*net::local_address(first)},
                                                      Member::Addresses{*net::local_address(second)}};
  const net::JobKey key = *net::JobKey::make();
  Member other(0, addresses, std::move(first), key, theirs);
  Member member(1, addresses, std::move(second), key, ours);
  return member.sink.wait_for_loss();
}

TEST(Recovery, BothSidesMustWantTheSameSecrecy) {
  const auto loss = disagreement({.secrecy = net::Secrecy::kTls}, {.secrecy = net::Secrecy::kClear});
  ASSERT_TRUE(loss);
  EXPECT_NE(loss->text().find("does not encrypt"), std::string::npos) << loss->text();
}

TEST(Recovery, BothSidesMustWantTheSameNumberOfRails) {
  const auto loss = disagreement({.num_rails = 3}, {.num_rails = 2});
  ASSERT_TRUE(loss);
  EXPECT_NE(loss->text().find("the peer has 2 rails, this member 3"), std::string::npos) << loss->text();
}

// Each rail begins at another address, and tries the next one if no process listens there.
TEST(Recovery, ARailFallsBackToAnotherAddress) {
  std::vector<Descriptor> listeners;
  std::vector<SocketAddress> addresses;
  for (int i = 0; i < 3; ++i) {
    listeners.push_back(value_or_throw(net::listen_at(*SocketAddress::parse("127.0.0.1:0"))));
    addresses.push_back(*net::local_address(listeners.back()));
  }
  listeners[2] = Descriptor();
  const net::TcpOptions options{.num_rails = 3, .stripe_from = 1000};
  const net::JobKey key = *net::JobKey::make();
  const std::array<Member::Addresses, 2> ours = {Member::Addresses{addresses[0]},
                                                 Member::Addresses{addresses[1]}};
  Member listener(0, ours, std::move(listeners[0]), key, options);
  const std::array<Member::Addresses, 2> both = {Member::Addresses{addresses[0], addresses[2]}, ours[1]};
  Member connector(1, both, std::move(listeners[1]), key, options);
  constexpr std::uint64_t kFew = 20;
  for (std::uint64_t number = 1; number <= kFew; ++number) {
    connector.send(0, number, kSizes[number % std::size(kSizes)]);
    listener.send(1, number, kSizes[(number + 2) % std::size(kSizes)]);
  }
  for (Member* member : {&listener, &connector}) {
    ASSERT_TRUE(member->sink.wait_for(kFew))
        << (member->sink.loss ? member->sink.loss->text() : "too few came");
    for (std::uint64_t i = 0; i < kFew; ++i) EXPECT_EQ(member->sink.numbers[i], i + 1);
  }
}

}  // namespace
}  // namespace cohort::test

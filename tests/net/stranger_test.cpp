#include "comm/exchange_member.h"
#include "net/greeting.h"
#include "net/socket.h"
#include "net/stream.h"
#include "net/tcp_transport.h"
#include "soak.h"

#include <cohort/random.h>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using comm::FrameHeader;
using net::Challenge;
using net::Hello;
using net::JobKey;
using net::Nonce;
using net::SocketAddress;

/// Counts calls of the sink.
struct Counting final : comm::FrameSink {
  std::span<std::byte> buffer_for(int, const FrameHeader&) override {
    ++num_placed;
    return {};
  }
  void arrived(int, const FrameHeader&) override { ++num_arrived; }
  void withdrawn(int, const FrameHeader&) override {}
  void lost(int, const Error&) override { ++num_lost; }
  std::atomic<int> num_placed = 0, num_arrived = 0, num_lost = 0;
};

/// Member 0 of two. Member 1 never connects; strangers do.
class Lonely {
 public:
  explicit Lonely(net::TcpOptions options = {})
      : listener_(value_or_throw(net::listen_at(*SocketAddress::parse("127.0.0.1:0")))),
        address_(*net::local_address(listener_)),
        doorbell_(reactor_),
        transport_({.member = 0, .members = {{}, {}}, .key = key}, std::move(listener_), reactor_, clock_,
                   options),
        progress_(doorbell_) {
    transport_.open(sink, doorbell_);
    progress_.add(transport_);
  }
  ~Lonely() {
    progress_.remove(transport_);
    transport_.close();
  }
  const SocketAddress& address() const { return address_; }

  const JobKey key = *JobKey::make();
  Counting sink;

 private:
  Descriptor listener_;
  const SocketAddress address_;
  RealClock clock_;
  net::Reactor reactor_;
  net::SocketDoorbell doorbell_;
  net::TcpTransport transport_;
  comm::Progress progress_;
};

/// A client with a blocking socket.
class Stranger {
 public:
  explicit Stranger(const SocketAddress& address)
      : socket_(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::connect(socket_.number(), address.data(), address.size()), 0);
    const timeval limit{10, 0};
    ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  Nonce hear_challenge() {
    std::array<std::byte, net::kChallengeBytes> bytes{};
    EXPECT_EQ(hear(bytes), bytes.size());
    const auto challenge = Challenge::decode(bytes);
    EXPECT_TRUE(challenge);
    return challenge ? challenge->nonce : Nonce{};
  }
  void say(std::span<const std::byte> bytes) {
    (void)!::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void stop_talking() { ::shutdown(socket_.number(), SHUT_WR); }
  std::size_t hear(std::span<std::byte> into) {
    const ssize_t got = ::recv(socket_.number(), into.data(), into.size(), MSG_WAITALL);
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }
  /// The other side closes the connection without sending another byte.
  bool is_turned_away() {
    std::array<std::byte, 256> more{};
    const ssize_t got = ::recv(socket_.number(), more.data(), more.size(), 0);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }

  /// The other side closes the connection, whatever it has sent before.
  bool is_closed() {
    std::array<std::byte, 256> more{};
    ssize_t got = 1;
    while (got > 0) got = ::recv(socket_.number(), more.data(), more.size(), 0);
    return got == 0 || errno != EAGAIN;
  }

 private:
  Descriptor socket_;
};

Hello hello_of(const JobKey& key) {
  return {.job = key.job(), .from = 1, .to = 0, .session = 5, .secrecy = net::Secrecy::kTls};
}

TEST(Strangers, AreTurnedAwayWithoutAWord) {
  Lonely lonely;
  const RandomStream random(3, 1);
  std::array<std::byte, net::kHelloBytes> recorded{};
  std::uint64_t next = 0;
  for (int i = 0; i < rounds(500, 10'000); ++i) {
    Stranger stranger(lonely.address());
    const Nonce challenge = stranger.hear_challenge();
    std::array<std::byte, net::kHelloBytes> hello{};
    switch (i % 5) {
      case 0:  // noise
        for (std::byte& byte : hello) byte = static_cast<std::byte>(random.bits(next++));
        break;
      case 1:  // the key of another job
        hello = hello_of(*JobKey::make()).encode(*JobKey::make(), challenge);
        break;
      case 2:  // the right key, but a flipped bit
        hello = hello_of(lonely.key).encode(lonely.key, challenge);
        hello[random.bits(next++) % hello.size()] ^= std::byte{16};
        break;
      case 3:  // the right key, replayed: made for another challenge
        if (i == 3) recorded = hello_of(lonely.key).encode(lonely.key, Nonce{});
        hello = recorded;
        break;
      default:  // cut off
        stranger.say(std::span(hello).first(static_cast<std::size_t>(i) % hello.size()));
        stranger.stop_talking();
        ASSERT_TRUE(stranger.is_turned_away()) << i;
        continue;
    }
    stranger.say(hello);
    ASSERT_TRUE(stranger.is_turned_away()) << i;
  }
  EXPECT_EQ(lonely.sink.num_placed, 0);
  EXPECT_EQ(lonely.sink.num_arrived, 0);
  EXPECT_EQ(lonely.sink.num_lost, 0) << "member 1 may still connect";
}

TEST(Strangers, WhoSaysNothingIsTurnedAwayInTime) {
  Lonely lonely({.greeting_limit = 50ms});
  Stranger stranger(lonely.address());
  stranger.hear_challenge();
  EXPECT_TRUE(stranger.is_turned_away());
}

// The limit of the handshake does not pass during the test: the oldest connection is closed for a new one.
TEST(Strangers, AFloodOfThemKeepsNobodyOut) {
  Lonely lonely({.greeting_limit = 1h});
  std::vector<std::unique_ptr<Stranger>> crowd;
  for (int i = 0; i < 300; ++i) crowd.push_back(std::make_unique<Stranger>(lonely.address()));
  EXPECT_TRUE(crowd.front()->is_closed());
  Stranger friendly(lonely.address());
  const Nonce challenge = friendly.hear_challenge();
  friendly.say(hello_of(lonely.key).encode(lonely.key, challenge));
  std::array<std::byte, net::kWelcomeBytes> welcome{};
  EXPECT_EQ(friendly.hear(welcome), welcome.size());
}

// After the welcome the connection is TLS: a frame without encryption does not arrive.
TEST(Strangers, AfterTheWelcomeBytesInTheClearAreNotHeard) {
  Lonely lonely;
  Stranger stranger(lonely.address());
  const Nonce challenge = stranger.hear_challenge();
  stranger.say(hello_of(lonely.key).encode(lonely.key, challenge));
  std::array<std::byte, net::kWelcomeBytes> welcome{};
  ASSERT_EQ(stranger.hear(welcome), welcome.size());
  std::array<std::byte, comm::kFrameHeaderBytes> frame{};
  comm::encode({.channel = comm::Channel::kMessage}, frame);
  stranger.say(frame);
  std::array<std::byte, 256> answer{};
  while (stranger.hear(std::span(answer).first(1)) > 0) continue;  // a TLS alert, then the end
  EXPECT_EQ(lonely.sink.num_arrived, 0);
}

TEST(Listening, APortThatIsTakenIsNamed) {
  const Descriptor first = value_or_throw(net::listen_at(*SocketAddress::parse("127.0.0.1:0")));
  const auto second = net::listen_at(*net::local_address(first));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kAlreadyExists);
  EXPECT_NE(second.error().text().find("is taken"), std::string::npos) << second.error().text();
}

}  // namespace
}  // namespace cohort::test

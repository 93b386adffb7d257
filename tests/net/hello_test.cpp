#include "net/hello.h"

#include "net/greeting.h"
#include "net/memory_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tuple>

namespace cohort::test {
namespace {

using net::Challenge;
using net::Hello;
using net::JobKey;
using net::Nonce;
using net::Secrecy;
using net::Welcome;

Nonce nonce_of(unsigned char fill) {
  Nonce nonce;
  nonce.fill(static_cast<std::byte>(fill));
  return nonce;
}

Hello some_hello(const JobKey& key) {
  return {.job = key.job(),
          .from = 3,
          .to = 1,
          .session = 0x1122334455667788,
          .num_taken = 99,
          .rail = 2,
          .num_rails = 5,
          .secrecy = Secrecy::kTls,
          .nonce = nonce_of(5)};
}

TEST(Hello, SaysWhatWasSaid) {
  const JobKey key = *JobKey::make();
  const Nonce challenge = nonce_of(9);
  const Hello hello = some_hello(key);
  const auto heard = Hello::decode(hello.encode(key, challenge), key, challenge);
  ASSERT_TRUE(heard) << heard.error().text();
  EXPECT_EQ(heard->from, 3u);
  EXPECT_EQ(heard->to, 1u);
  EXPECT_EQ(heard->session, hello.session);
  EXPECT_EQ(heard->num_taken, 99u);
  EXPECT_EQ(heard->rail, 2);
  EXPECT_EQ(heard->num_rails, 5);
  EXPECT_EQ(heard->secrecy, Secrecy::kTls);
  EXPECT_EQ(heard->nonce, hello.nonce);
}

TEST(Hello, IsGoodForOneChallengeAndOneJobOnly) {
  const JobKey key = *JobKey::make();
  const auto bytes = some_hello(key).encode(key, nonce_of(9));
  EXPECT_FALSE(Hello::decode(bytes, key, nonce_of(8))) << "replayed";
  EXPECT_FALSE(Hello::decode(bytes, *JobKey::make(), nonce_of(9))) << "another job";
}

TEST(Hello, EveryFlippedBitIsNoticed) {
  const JobKey key = *JobKey::make();
  auto hello = some_hello(key).encode(key, nonce_of(9));
  for (std::size_t bit = 0; bit < hello.size() * 8; ++bit) {
    hello[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    EXPECT_FALSE(Hello::decode(hello, key, nonce_of(9))) << "bit " << bit;
    hello[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
  }
  auto welcome = Welcome{.member = 1, .session = 7, .num_taken = 5}.encode(key, nonce_of(9), nonce_of(5));
  for (std::size_t bit = 0; bit < welcome.size() * 8; ++bit) {
    welcome[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    EXPECT_FALSE(Welcome::decode(welcome, key, nonce_of(9), nonce_of(5))) << "bit " << bit;
    welcome[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
  }
}

TEST(Hello, ARailThatThereCannotBeIsRefused) {
  const JobKey key = *JobKey::make();
  Hello hello = some_hello(key);
  for (const auto& [rail, num_rails, words] :
       {std::tuple(5, 5, "field rail is 5, expected 0 … 4"),
        std::tuple(0xffff, 5, "field rail is 65535, expected 0 … 4"),
        std::tuple(2, 9, "field further rails is 8, expected 0 … 7"),
        std::tuple(0, 256, "field further rails is 255, expected 0 … 7")}) {
    hello.rail = static_cast<std::uint16_t>(rail);
    hello.num_rails = num_rails;
    const auto heard = Hello::decode(hello.encode(key, nonce_of(9)), key, nonce_of(9));
    ASSERT_FALSE(heard) << rail << " of " << num_rails;
    EXPECT_EQ(heard.error().code(), ErrorCode::kCorrupt);
    EXPECT_EQ(heard.error().text(), fmt::format("corrupt hello from member 3: {}", words));
  }
}

TEST(Hello, AnotherVersionIsNamed) {
  const JobKey key = *JobKey::make();
  auto bytes = some_hello(key).encode(key, nonce_of(9));
  bytes[4] = std::byte{2};
  const auto heard = Hello::decode(bytes, key, nonce_of(9));
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().code(), ErrorCode::kUnsupported);
}

// Runs both sides of a handshake over a connection that moves a few bytes at a time.
struct Meeting {
  explicit Meeting(std::uint64_t seed) : pipe(seed) {}
  Result<bool> run(net::Greeting& a, net::Greeting& b) {
    auto left = pipe.end(0);
    auto right = pipe.end(1);
    for (int i = 0; i < 10000; ++i) {
      COHORT_ASSIGN_OR_RETURN(const bool first, a.advance(left));
      COHORT_ASSIGN_OR_RETURN(const bool second, b.advance(right));
      if (first && second) return true;
    }
    return false;
  }
  MemoryPipe pipe;
};

TEST(Greeting, MembersOfAJobMeet) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const JobKey key = *JobKey::make();
    net::ListenerGreeting listener(key, nonce_of(1), [](const Hello& hello) {
      return Welcome{.member = hello.to, .session = 44, .num_taken = 1234};
    });
    net::ConnectorGreeting connector(key, some_hello(key));
    Meeting meeting(seed);
    const auto done = meeting.run(listener, connector);
    ASSERT_TRUE(done) << done.error().text();
    ASSERT_TRUE(*done);
    EXPECT_EQ(listener.hello()->from, 3u);
    EXPECT_EQ(connector.welcome().num_taken, 1234u);
  }
}

TEST(Greeting, StrangersDoNot) {
  const JobKey key = *JobKey::make();
  const JobKey other = *JobKey::make();
  net::ListenerGreeting listener(key, nonce_of(1), [](const Hello&) -> Welcome {
    ADD_FAILURE() << "the judge was asked about a stranger";
    return {};
  });
  net::ConnectorGreeting connector(other, some_hello(other));
  Meeting meeting(3);
  const auto done = meeting.run(listener, connector);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::kPermission) << done.error().text();
}

TEST(Greeting, ARefusalIsExplained) {
  const JobKey key = *JobKey::make();
  using Verdict = Welcome::Verdict;
  for (const Verdict verdict :
       {Verdict::kWrongMember, Verdict::kWrongSecrecy, Verdict::kUnknownSession, Verdict::kWrongRails}) {
    net::ListenerGreeting listener(key, nonce_of(1),
                                   [&](const Hello&) { return Welcome{.verdict = verdict, .member = 2}; });
    net::ConnectorGreeting connector(key, some_hello(key));
    Meeting meeting(4);
    const auto done = meeting.run(listener, connector);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text().find("member 1 refuses the connection"), std::string::npos);
  }
}

}  // namespace
}  // namespace cohort::test

#include "net/tls_stream.h"

#include "base/descriptor.h"

#include <cohort/random.h>
#include <gtest/gtest.h>
#include <optional>
#include <sys/socket.h>
#include <vector>

namespace cohort::test {
namespace {

using net::Secret;
using net::TlsStream;

/// Two ends of an encrypted connection with buffers so short that most writes are partial.
struct Ends {
  explicit Ends(std::byte from_secret = std::byte{7}, std::byte to_secret = std::byte{7}) {
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()), 0);
    sockets = {Descriptor(pair[0]), Descriptor(pair[1])};
    for (const Descriptor& socket : sockets) {
      const int size = 20'000;
      ::setsockopt(socket.number(), SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    }
    Secret secret{};
    secret.fill(from_secret);
    from = value_or_throw(TlsStream::make(sockets[0].number(), net::End::kConnector, secret));
    secret.fill(to_secret);
    to = value_or_throw(TlsStream::make(sockets[1].number(), net::End::kListener, secret));
    shake_hands();
  }
  void shake_hands() {
    for (int i = 0; i < 100 && !is_ready && !failure; ++i) {
      is_ready = true;
      for (TlsStream* end : {from.get(), to.get()}) {
        const Result<bool> prepared = end->prepare();
        if (!prepared && !failure) failure = prepared.error();
        is_ready = is_ready && prepared && *prepared;
      }
    }
  }
  std::array<Descriptor, 2> sockets;
  std::unique_ptr<TlsStream> from, to;
  bool is_ready = false;
  std::optional<Error> failure{};
};

TEST(TlsStream, AnotherKeyIsRefused) {
  EXPECT_TRUE(Ends().is_ready);
  const Ends strangers(std::byte{7}, std::byte{8});
  EXPECT_FALSE(strangers.is_ready);
  ASSERT_TRUE(strangers.failure);
  EXPECT_EQ(strangers.failure->code(), ErrorCode::kPermission);
}

std::vector<iovec> cut(std::span<std::byte> bytes, const RandomStream& dice, std::uint64_t& throws) {
  std::vector<iovec> parts;
  while (!bytes.empty() && parts.size() < 40) {
    const std::size_t most = dice.below(4, throws++) == 0 ? 50'000 : 100;
    const std::size_t count = std::min<std::size_t>(bytes.size(), 1 + dice.below(most, throws++));
    parts.push_back({bytes.data(), count});
    bytes = bytes.subspan(count);
  }
  return parts;
}

// Parts of all lengths; after each partial write the rest is offered in other parts.
TEST(TlsStream, BytesArriveAsTheyWereWrittenWhateverTheParts) {
  Ends ends;
  const RandomStream dice(3, 1);
  std::uint64_t throws = 0;
  std::vector<std::byte> sent(3'000'000), got(sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 31 + i / 253);
  std::size_t num_sent = 0, num_got = 0;
  for (int turn = 0; turn < 100'000 && num_got < got.size(); ++turn) {
    const auto rest = std::span(sent).subspan(num_sent);
    if (!rest.empty()) num_sent += value_or_throw(ends.from->write(cut(rest, dice, throws)));
    const auto room = std::span(got).subspan(num_got);
    num_got += value_or_throw(ends.to->read(cut(room, dice, throws)));
  }
  EXPECT_EQ(num_got, got.size());
  EXPECT_TRUE(sent == got);
}

/// Counts the plain bytes in the complete TLS records of a connection, without the key.
class Eavesdropper {
 public:
  explicit Eavesdropper(const Descriptor& socket) : socket_(socket) {}

  std::size_t take(std::size_t cap) {
    std::vector<std::byte> room(cap);
    const ssize_t got = ::recv(socket_.number(), room.data(), cap, MSG_DONTWAIT);
    if (got > 0) waiting_.insert(waiting_.end(), room.begin(), room.begin() + got);
    while (waiting_.size() >= kHead) {
      const std::size_t length =
          std::to_integer<std::size_t>(waiting_[3]) * 256 + std::to_integer<std::size_t>(waiting_[4]);
      if (waiting_.size() < kHead + length) break;
      num_plain_ += length - kTail;
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(kHead + length));
    }
    return num_plain_;
  }

 private:
  static constexpr std::size_t kHead = 5, kTail = 17;
  const Descriptor& socket_;
  std::vector<std::byte> waiting_;
  std::size_t num_plain_ = 0;
};

// A record that was written half-way must not grow by bytes that were offered later: write() has reported
// that it took none of them.
TEST(TlsStream, WhatIsTakenHalfWayIsFinishedAsItWas) {
  constexpr std::size_t kShort = 900, kLong = 15'000, kRecordMore = 22;
  Ends ends;
  Eavesdropper reader(ends.sockets[1]);
  std::vector<std::byte> bytes(200'000);
  std::size_t num_sent = 0;
  std::size_t offered = 0;
  const auto offer = [&](std::size_t more) {
    offered += more;
    const iovec part{bytes.data() + num_sent, offered - num_sent};
    num_sent += value_or_throw(ends.from->write(std::span(&part, 1)));
  };
  while (num_sent == offered) offer(kShort);  // the last one does not fit
  (void)reader.take(kShort + kRecordMore);    // now it does, and nothing else
  offer(kLong);
  EXPECT_LE(reader.take(bytes.size()), num_sent) << "more bytes were sent than write() reported";
  while (num_sent < offered) {
    offer(0);
    (void)reader.take(bytes.size());
  }
  EXPECT_EQ(reader.take(bytes.size()), offered);
}

// A short header, payload and trailer make one record, which adds 22 bytes.
TEST(TlsStream, ShortPartsShareARecord) {
  Ends ends;
  std::array<std::byte, 84> bytes{};
  const std::vector<iovec> parts = {{bytes.data(), 64}, {bytes.data() + 64, 12}, {bytes.data() + 76, 8}};
  EXPECT_EQ(value_or_throw(ends.from->write(parts)), 84u);
  std::array<std::byte, 1000> cipher{};
  EXPECT_EQ(::recv(ends.sockets[1].number(), cipher.data(), cipher.size(), MSG_PEEK), 84 + 22);
}

}  // namespace
}  // namespace cohort::test

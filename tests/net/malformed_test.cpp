#include "net/in_stream.h"
#include "net/meeting_table.h"
#include "net/out_stream.h"

#include <cohort/random.h>

#include <cstring>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using comm::Channel;
using comm::FrameHeader;
using net::Guard;
using net::InStream;
using net::OutStream;

/// Gives out bytes that were put in.
struct Tape final : net::Stream {
  Result<std::size_t> read(std::span<const iovec> parts) override {
    std::size_t all = 0;
    for (const iovec& part : parts) {
      const std::size_t count = std::min(bytes.size() - at, part.iov_len);
      if (count > 0) std::memcpy(part.iov_base, bytes.data() + at, count);
      at += count;
      all += count;
    }
    return all;
  }
  Result<std::size_t> write(std::span<const iovec>) override { return std::size_t{0}; }
  std::vector<std::byte> bytes{};
  std::size_t at = 0;
};

/// Expects payloads to be the patterns that were sent.
struct Strict final : net::MessageSink {
  std::span<std::byte> place(const FrameHeader& header) override {
    if (header.size_bytes > 4096) return {};  // who claims so much is not believed
    room.resize(header.size_bytes);
    return room;
  }
  void arrived(const FrameHeader& header) override {
    ++num_arrived;
    for (const std::byte byte : room) {
      if (header.size_bytes <= 4096 && byte != static_cast<std::byte>(header.number)) ++num_wrong;
    }
  }
  void taken_back(const FrameHeader&) override {}
  std::vector<std::byte> room{};
  int num_arrived = 0;
  int num_wrong = 0;
};

std::vector<std::byte> stream_of(Guard guard, const std::vector<std::size_t>& sizes) {
  OutStream out(guard);
  std::vector<std::vector<std::byte>> payloads;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    payloads.emplace_back(sizes[i], static_cast<std::byte>(i));
    out.add({.channel = Channel::kMessage, .group = 1, .number = i, .size_bytes = sizes[i]}, payloads.back(),
            {});
  }
  std::vector<std::byte> bytes;
  while (out.has_more()) {
    std::size_t all = 0;
    for (const iovec& part : out.gather(1 << 20)) {
      const auto* first = static_cast<const std::byte*>(part.iov_base);
      bytes.insert(bytes.end(), first, first + part.iov_len);
      all += part.iov_len;
    }
    out.wrote(all);
  }
  return bytes;
}

// A message among others whose bytes are not what they were: it must not arrive as something else.
TEST(Malformed, AMillionFramesAreNoticed) {
  const std::vector<std::byte> good = stream_of(Guard::kChecksum, {5, 0, 64, 1});
  const RandomStream random(7, 1);
  std::uint64_t next = 0;
  int num_arrived = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    Tape tape;
    tape.bytes = good;
    const std::uint64_t how = random.bits(next++);
    const std::size_t where = how / 8 % good.size();
    switch (how % 4) {
      case 0:  // a bit
        tape.bytes[where] ^= static_cast<std::byte>(1u << (how >> 40) % 8);
        break;
      case 1:  // eight bytes of anything
        for (std::size_t k = where; k < std::min(where + 8, good.size()); ++k) {
          tape.bytes[k] = static_cast<std::byte>(random.bits(next++) >> 11);
        }
        break;
      case 2:  // cut off
        tape.bytes.resize(where);
        break;
      default:  // something is missing
        tape.bytes.erase(tape.bytes.begin() + static_cast<std::ptrdiff_t>(where));
    }
    InStream in(Guard::kChecksum);
    Strict sink;
    (void)in.read(tape, sink, 1 << 20);
    EXPECT_EQ(sink.num_wrong, 0) << "case " << i;
    num_arrived += sink.num_arrived;
  }
  EXPECT_GT(num_arrived, 0) << "what comes before the damage arrives";
}

TEST(Malformed, CardsAndRepliesAreTakenApartOrRefused) {
  const RandomStream random(9, 1);
  const std::vector<std::byte> request =
      net::CardRequest{.round = "0.cards", .world = 3, .wait_ms = 5, .card = "abc"}.encode();
  const std::vector<std::byte> reply = net::encode_cards({"a", "", "ccc"});
  ASSERT_TRUE(net::CardRequest::decode(request));
  ASSERT_EQ(net::decode_reply(reply)->size(), 3u);
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    std::vector<std::byte> bytes = i % 2 == 0 ? request : reply;
    bytes[random.below(bytes.size(), 3 * i)] = static_cast<std::byte>(random.bits(3 * i + 1));
    if (i % 3 == 0) bytes.resize(random.below(bytes.size() + 1, 3 * i + 2));
    (void)net::CardRequest::decode(bytes);
    (void)net::decode_reply(bytes);
  }
}

}  // namespace
}  // namespace cohort::test

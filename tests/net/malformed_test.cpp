#include "base/checksum.h"
#include "net/assembly.h"
#include "net/in_stream.h"
#include "net/meeting_table.h"
#include "net/out_stream.h"
#include "net/stripes.h"

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

std::vector<std::byte> written(OutStream& out) {
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

FrameHeader header_of(std::uint64_t number, std::size_t size) {
  return {.channel = Channel::kMessage, .group = 1, .number = number, .size_bytes = size};
}

std::vector<std::byte> stream_of(Guard guard, const std::vector<std::size_t>& sizes) {
  OutStream out(guard);
  std::vector<std::vector<std::byte>> payloads;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    payloads.emplace_back(sizes[i], static_cast<std::byte>(i));
    out.add(header_of(i, sizes[i]), payloads.back(), {});
  }
  return written(out);
}

void damage(std::vector<std::byte>& bytes, const RandomStream& random, std::uint64_t& next) {
  const std::uint64_t how = random.bits(next++);
  const std::size_t where = how / 8 % bytes.size();
  switch (how % 4) {
    case 0:  // a bit
      bytes[where] ^= static_cast<std::byte>(1u << (how >> 40) % 8);
      break;
    case 1:  // eight bytes of anything
      for (std::size_t k = where; k < std::min(where + 8, bytes.size()); ++k) {
        bytes[k] = static_cast<std::byte>(random.bits(next++) >> 11);
      }
      break;
    case 2:  // cut off
      bytes.resize(where);
      break;
    default:  // something is missing
      bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(where));
  }
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
    damage(tape.bytes, random, next);
    InStream in(Guard::kChecksum);
    Strict sink;
    (void)in.read(tape, sink, 1 << 20);
    EXPECT_EQ(sink.num_wrong, 0) << "case " << i;
    num_arrived += sink.num_arrived;
  }
  EXPECT_GT(num_arrived, 0) << "what comes before the damage arrives";
}

constexpr std::size_t kLanes = 3;

/// One lane of a link, whose bytes are on a tape.
struct LaneOnTape final : net::MessageSink {
  Result<bool> admit(const FrameHeader& header) override { return assembly->admit(number, header); }
  std::span<std::byte> place(const FrameHeader& header) override {
    return header.channel == Channel::kFarewell ? std::span<std::byte>() : assembly->place(number, header);
  }
  void arrived(const FrameHeader& header) override {
    if (outcome && header.channel != Channel::kFarewell) outcome = assembly->arrived(number, header);
  }
  void taken_back(const FrameHeader& header) override {
    if (outcome && header.channel != Channel::kFarewell) outcome = assembly->taken_back(number, header);
  }
  void read() {
    if (!outcome) return;
    if (const auto got = in.read(tape, *this, 100); !got && outcome) outcome = got.error();
  }
  net::Assembly* assembly = nullptr;
  std::size_t number = 0;
  Tape tape{};
  InStream in{Guard::kChecksum};
  Status outcome{};
};

std::vector<std::vector<std::byte>> striped_streams() {
  std::vector<OutStream> outs(kLanes, OutStream(Guard::kChecksum));
  const std::vector<OutStream*> lanes = {&outs[0], &outs[1], &outs[2]};
  const std::vector<std::byte> first(200, std::byte{0});
  const std::vector<std::byte> second(7, std::byte{1});
  const std::vector<std::byte> third(400, std::byte{2});
  net::add_striped(lanes, 1, header_of(0, first.size()), first, {});
  outs[0].add(header_of(1, second.size()), second, {});
  net::add_striped(lanes, 2, header_of(2, third.size()), third, {});
  return {written(outs[0]), written(outs[1]), written(outs[2])};
}

// A header that says something else, and has the right checksum.
void lie(std::span<std::byte> header, const RandomStream& random, std::uint64_t& next) {
  const std::uint64_t how = random.bits(next++);
  header[4 + how % 56] = static_cast<std::byte>(how >> 40);
  const std::uint32_t sum = crc32c(header.first(comm::kFrameHeaderBytes - 4));
  std::memcpy(header.data() + comm::kFrameHeaderBytes - 4, &sum, sizeof sum);
}

// Stripes whose bytes are not what they were, or whose headers lie: nothing arrives as something else, and
// whatever waits for them waits without a crash.
TEST(Malformed, StripesAreNoticed) {
  const std::vector<std::vector<std::byte>> good = striped_streams();
  const RandomStream random(11, 1);
  std::uint64_t next = 0;
  int num_arrived = 0;
  for (int i = 0; i < 50'000; ++i) {
    Strict sink;
    net::Assembly assembly(kLanes, sink);
    std::array<LaneOnTape, kLanes> lanes;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane].assembly = &assembly;
      lanes[lane].number = lane;
      lanes[lane].tape.bytes = good[lane];
    }
    const std::size_t which = random.bits(next++) % kLanes;
    std::vector<std::byte>& bytes = lanes[which].tape.bytes;
    which > 0 && i % 2 == 0 ? lie(std::span(bytes).first(64), random, next) : damage(bytes, random, next);
    for (int turn = 0; turn < 24; ++turn) lanes[random.bits(next++) % kLanes].read();
    ASSERT_EQ(sink.num_wrong, 0) << "case " << i;
    ASSERT_LE(sink.num_arrived, 3);
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

#include "base/checksum.h"
#include "net/assembly.h"
#include "net/in_stream.h"
#include "net/meeting_table.h"
#include "net/out_stream.h"
#include "net/stripes.h"
#include "soak.h"

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

/// A stream that reads from a buffer.
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

/// Counts messages, and bytes that differ from the pattern that was sent.
struct Strict {
  static Result<bool> admit(const FrameHeader&) { return true; }
  std::span<std::byte> buffer_for(const FrameHeader& header) {
    if (header.size_bytes > 4096) return {};  // a damaged size: do not allocate that much
    room.resize(header.size_bytes);
    return room;
  }
  void arrived(const FrameHeader& header) {
    ++num_arrived;
    for (const std::byte byte : room) {
      if (header.size_bytes <= 4096 && byte != static_cast<std::byte>(header.number)) ++num_wrong;
    }
  }
  void withdrawn(const FrameHeader&) {}
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
    case 0:  // flip a bit
      bytes[where] ^= static_cast<std::byte>(1u << (how >> 40) % 8);
      break;
    case 1:  // overwrite eight bytes
      for (std::size_t k = where; k < std::min(where + 8, bytes.size()); ++k) {
        bytes[k] = static_cast<std::byte>(random.bits(next++) >> 11);
      }
      break;
    case 2:  // cut off the end
      bytes.resize(where);
      break;
    default:  // remove a byte
      bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(where));
  }
}

// A damaged message among others must not arrive with a wrong payload.
TEST(Malformed, FramesAreNoticed) {
  const std::vector<std::byte> good = stream_of(Guard::kChecksum, {5, 0, 64, 1});
  const RandomStream random(7, 1);
  std::uint64_t next = 0;
  int num_arrived = 0;
  for (int i = 0; i < rounds(30'000, 1'000'000); ++i) {
    Tape tape;
    tape.bytes = good;
    damage(tape.bytes, random, next);
    InStream in(Guard::kChecksum);
    Strict sink;
    (void)in.read(tape, sink, 1 << 20);
    EXPECT_EQ(sink.num_wrong, 0) << "case " << i;
    num_arrived += sink.num_arrived;
  }
  EXPECT_GT(num_arrived, 0) << "messages before the damage arrive";
}

constexpr std::size_t kRails = 3;

/// One rail of a link, which reads its bytes from a Tape.
struct RailOnTape {
  Result<bool> admit(const FrameHeader& header) { return assembly->admit(number, header); }
  std::span<std::byte> buffer_for(const FrameHeader& header) {
    return header.channel == Channel::kFarewell ? std::span<std::byte>()
                                                : assembly->buffer_for(number, header);
  }
  void arrived(const FrameHeader& header) {
    if (outcome && header.channel != Channel::kFarewell) outcome = assembly->arrived(number, header);
  }
  void withdrawn(const FrameHeader& header) {
    if (outcome && header.channel != Channel::kFarewell) outcome = assembly->withdrawn(number, header);
  }
  void read() {
    if (!outcome) return;
    if (const auto got = in.read(tape, *this, 100); !got && outcome) outcome = got.error();
  }
  net::Assembly<Strict>* assembly = nullptr;
  std::size_t number = 0;
  Tape tape{};
  InStream in{Guard::kChecksum};
  Status outcome{};
};

std::vector<std::vector<std::byte>> striped_streams() {
  std::vector<OutStream> outs(kRails, OutStream(Guard::kChecksum));
  const std::vector<OutStream*> rails = {&outs[0], &outs[1], &outs[2]};
  const std::vector<std::byte> first(200, std::byte{0});
  const std::vector<std::byte> second(7, std::byte{1});
  const std::vector<std::byte> third(400, std::byte{2});
  net::add_striped(rails, 1, header_of(0, first.size()), first, {});
  outs[0].add(header_of(1, second.size()), second, {});
  net::add_striped(rails, 2, header_of(2, third.size()), third, {});
  return {written(outs[0]), written(outs[1]), written(outs[2])};
}

// Changes a field of a header and corrects its checksum.
void lie(std::span<std::byte> header, const RandomStream& random, std::uint64_t& next) {
  const std::uint64_t how = random.bits(next++);
  header[4 + how % 56] = static_cast<std::byte>(how >> 40);
  const std::uint32_t sum = crc32c(header.first(comm::kFrameHeaderBytes - 4));
  std::memcpy(header.data() + comm::kFrameHeaderBytes - 4, &sum, sizeof sum);
}

// Damaged stripes, and stripes with wrong headers: no message arrives with a wrong payload, and rails that
// wait for them do not crash.
TEST(Malformed, StripesAreNoticed) {
  const std::vector<std::vector<std::byte>> good = striped_streams();
  const RandomStream random(11, 1);
  std::uint64_t next = 0;
  int num_arrived = 0;
  for (int i = 0; i < rounds(5'000, 50'000); ++i) {
    Strict sink;
    net::Assembly assembly(kRails, sink);
    std::array<RailOnTape, kRails> rails;
    for (std::size_t rail = 0; rail < kRails; ++rail) {
      rails[rail].assembly = &assembly;
      rails[rail].number = rail;
      rails[rail].tape.bytes = good[rail];
    }
    const std::size_t which = random.bits(next++) % kRails;
    std::vector<std::byte>& bytes = rails[which].tape.bytes;
    which > 0 && i % 2 == 0 ? lie(std::span(bytes).first(64), random, next) : damage(bytes, random, next);
    for (int turn = 0; turn < 24; ++turn) rails[random.bits(next++) % kRails].read();
    ASSERT_EQ(sink.num_wrong, 0) << "case " << i;
    ASSERT_LE(sink.num_arrived, 3);
    num_arrived += sink.num_arrived;
  }
  EXPECT_GT(num_arrived, 0) << "messages before the damage arrive";
}

// Damaged bytes are refused as corrupt, or they decode to the message that encodes to exactly these bytes.
TEST(Malformed, CardsAndRepliesAreTakenApartOrRefused) {
  constexpr std::uint64_t kDayMs = 24ull * 3600 * 1000;
  const RandomStream random(9, 1);
  const std::vector<std::byte> request =
      net::CardRequest{.round = "0.cards", .world = 3, .members = {0, 2}, .wait_ms = 5, .card = "abc"}
          .encode();
  const std::vector<std::byte> reply = net::encode_cards({"a", "", "ccc"});
  ASSERT_TRUE(net::CardRequest::decode(request));
  ASSERT_EQ(net::decode_reply(reply)->size(), 3u);
  for (std::uint64_t i = 0; i < rounds<std::uint64_t>(20'000, 200'000); ++i) {
    std::vector<std::byte> bytes = i % 2 == 0 ? request : reply;
    bytes[random.below(bytes.size(), 3 * i)] = static_cast<std::byte>(random.bits(3 * i + 1));
    if (i % 3 == 0) bytes.resize(random.below(bytes.size() + 1, 3 * i + 2));
    if (const auto decoded = net::CardRequest::decode(bytes)) {
      if (decoded->wait_ms < kDayMs) EXPECT_EQ(decoded->encode(), bytes) << "case " << i;
    } else {
      EXPECT_EQ(decoded.error().code(), ErrorCode::kCorrupt) << "case " << i;
    }
    const bool is_refusal = !bytes.empty() && bytes[0] == std::byte{0};
    if (const auto cards = net::decode_reply(bytes)) {
      EXPECT_EQ(net::encode_cards(*cards), bytes) << "case " << i;
    } else if (!is_refusal) {
      EXPECT_EQ(cards.error().code(), ErrorCode::kCorrupt) << "case " << i;
    }
  }
}

TEST(Malformed, ErrorsOfAMeetingNameTheField) {
  const auto text_of = [](const auto& result) { return result ? "it was decoded" : result.error().text(); };
  std::vector<std::byte> request = net::CardRequest{.round = "r", .world = 3, .card = "abc"}.encode();
  request.resize(12);
  EXPECT_EQ(text_of(net::CardRequest::decode(request)),
            "corrupt request to the meeting: field world is cut off after 3 bytes, expected 4");
  request = net::CardRequest{.round = std::string(300, 'r'), .world = 3}.encode();
  EXPECT_EQ(text_of(net::CardRequest::decode(request)),
            "corrupt request to the meeting: field round has 300 bytes, expected at most 256");
  request = net::CardRequest{.round = "r", .world = 3, .card = "abc"}.encode();
  request.resize(request.size() + 2);
  EXPECT_EQ(text_of(net::CardRequest::decode(request)),
            "corrupt request to the meeting: 2 bytes follow the last field, expected 0");
  std::vector<std::byte> reply = net::encode_cards({"a", "bb"});
  reply.pop_back();
  EXPECT_EQ(text_of(net::decode_reply(reply)),
            "corrupt reply of the meeting: field card of rank 1 is cut off after 1 bytes, expected 2");
  reply[0] = std::byte{7};
  EXPECT_EQ(text_of(net::decode_reply(reply)),
            "corrupt reply of the meeting: field kind is 7, expected 0 … 1");
  EXPECT_EQ(text_of(net::decode_reply({})),
            "corrupt reply of the meeting: field kind is cut off after 0 bytes, expected 1");
}

}  // namespace
}  // namespace cohort::test

#include "comm/transport/frame.h"

#include "base/checksum.h"
#include "comm/exchange/carried_error.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace cohort::test {
namespace {

using comm::Channel;
using comm::FrameHeader;
using comm::kFrameHeaderBytes;
using Encoded = std::array<std::byte, kFrameHeaderBytes>;

FrameHeader awkward() {
  return {.channel = Channel::kAbort,
          .group = 0xfedcba98,
          .generation = 7,
          .number = 0x0123456789abcdef,
          .tag = 0xffffffffffffffff,
          .signature = 0x8000000000000001,
          .sequence = 42,
          .size_bytes = (std::uint64_t{1} << 40)};
}

Encoded encoded(const FrameHeader& header) {
  Encoded bytes{};
  comm::encode(header, bytes);
  return bytes;
}

/// A header with arbitrary fields and a correct checksum, as another implementation might send it.
Encoded with_byte(std::size_t offset, std::uint8_t value) {
  Encoded bytes = encoded(awkward());
  bytes[offset] = static_cast<std::byte>(value);
  const std::uint32_t sum = crc32c(std::span(bytes).first(60));
  std::memcpy(bytes.data() + 60, &sum, sizeof sum);
  return bytes;
}

TEST(Frame, ComesBackAsItWas) {
  for (const FrameHeader& header : {FrameHeader{}, awkward()}) {
    const Result<FrameHeader> decoded = comm::decode_frame_header(encoded(header));
    ASSERT_TRUE(decoded) << decoded.error().text();
    EXPECT_EQ(*decoded, header);
  }
}

TEST(Frame, BytesAreThoseOfTheTable) {
  const Encoded bytes = encoded({.channel = Channel::kRequest,
                                 .group = 1,
                                 .generation = 2,
                                 .number = 3,
                                 .tag = 4,
                                 .signature = 5,
                                 .sequence = 6,
                                 .size_bytes = 0x0807});
  const auto at = [&](std::size_t offset) { return std::to_integer<int>(bytes[offset]); };
  EXPECT_EQ(std::memcmp(bytes.data(), "COHF", 4), 0);
  EXPECT_EQ(at(4), 1);
  EXPECT_EQ(at(5), 3);
  EXPECT_EQ(at(8), 1);
  EXPECT_EQ(at(12), 2);
  EXPECT_EQ(at(16), 3);
  EXPECT_EQ(at(24), 4);
  EXPECT_EQ(at(32), 5);
  EXPECT_EQ(at(40), 6);
  EXPECT_EQ(at(48), 7);
  EXPECT_EQ(at(49), 8);
}

TEST(Frame, EveryFlippedBitIsNoticed) {
  const Encoded good = encoded(awkward());
  for (std::size_t bit = 0; bit < kFrameHeaderBytes * 8; ++bit) {
    Encoded bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    const Result<FrameHeader> decoded = comm::decode_frame_header(bad);
    ASSERT_FALSE(decoded) << "bit " << bit;
    EXPECT_EQ(decoded.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(Frame, EveryTruncationIsNoticed) {
  const Encoded good = encoded(awkward());
  for (std::size_t length = 0; length < kFrameHeaderBytes; ++length) {
    EXPECT_EQ(comm::decode_frame_header(std::span(good).first(length)).error().code(), ErrorCode::kCorrupt);
  }
}

TEST(Frame, BytesBehindTheHeaderAreIgnored) {
  const Encoded good = encoded(awkward());
  std::vector<std::byte> longer(good.begin(), good.end());
  longer.push_back(std::byte{1});
  EXPECT_TRUE(comm::decode_frame_header(longer));
}

TEST(Frame, InvalidFieldsAreRefusedDespiteARightChecksum) {
  EXPECT_EQ(comm::decode_frame_header(with_byte(4, 2)).error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(comm::decode_frame_header(with_byte(5, 15)).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(comm::decode_frame_header(with_byte(6, 1)).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(comm::decode_frame_header(with_byte(59, 1)).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(comm::decode_frame_header(with_byte(48, 1)).error().code(), ErrorCode::kCorrupt)
      << "longer than the cap";
  EXPECT_TRUE(comm::decode_frame_header(with_byte(5, 14)));
}

TEST(Frame, EveryChannelHasAName) {
  EXPECT_EQ(name(Channel::kCollective), "collective");
  EXPECT_EQ(name(Channel::kAbort), "abort");
  EXPECT_EQ(name(Channel::kOffer), "offer");
  EXPECT_EQ(name(Channel::kCallFor), "call_for");
  EXPECT_EQ(name(Channel::kStripe), "stripe");
}

TEST(CarriedError, ComesBackWithCodeWordsAndRemedy) {
  const Error error = Error(ErrorCode::kIo, "inner").within("middle").within("outer").with_remedy("Do it.");
  const Error decoded = comm::decode_error(comm::encode(error));
  EXPECT_EQ(decoded.code(), ErrorCode::kIo);
  EXPECT_EQ(decoded.text(), error.text());
  EXPECT_EQ(comm::decode_error(comm::encode(Error(ErrorCode::kUsage, ""))).code(), ErrorCode::kUsage);
}

TEST(CarriedError, KeepsTheRankItIsAbout) {
  const Error error = Error(ErrorCode::kPeerLost, "gone").with_rank(0).within("outer");
  EXPECT_EQ(comm::decode_error(comm::encode(error)).rank(), 0);
  EXPECT_EQ(comm::decode_error(comm::encode(error.with_rank(7))).rank(), 7);
  EXPECT_EQ(comm::decode_error(comm::encode(Error(ErrorCode::kIo, "no rank"))).rank(), std::nullopt);
}

TEST(CarriedError, LongOnesAreCutToTheCap) {
  Error error(ErrorCode::kIo, std::string(10'000, 'r'));
  for (int i = 0; i < 100; ++i)
    error = error.within(std::string(10'000, 'a')).with_remedy(std::string(9'999, 'x'));
  const std::vector<std::byte> bytes = comm::encode(error);
  EXPECT_EQ(bytes.size(), 8u + (16 + 1) * (4 + 4096) + 4);
  const Error decoded = comm::decode_error(bytes);
  EXPECT_EQ(decoded.root().message(), std::string(4096, 'r'));
}

TEST(CarriedError, ATruncatedOrLongerOneIsCorrupt) {
  std::vector<std::byte> bytes =
      comm::encode(Error(ErrorCode::kIo, "inner").within("outer").with_remedy("Do."));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(comm::decode_error(std::span(bytes).first(length)).code(), ErrorCode::kCorrupt) << length;
  }
  bytes.push_back(std::byte{0});
  EXPECT_EQ(comm::decode_error(bytes).code(), ErrorCode::kCorrupt);
}

TEST(CarriedError, HostileNumbersAllocateNothing) {
  for (std::size_t offset = 0; offset < 12; ++offset) {
    std::vector<std::byte> bytes = comm::encode(Error(ErrorCode::kIo, "inner"));
    bytes[offset] = std::byte{0xff};
    EXPECT_EQ(comm::decode_error(bytes).code(), ErrorCode::kCorrupt) << offset;
  }
}

}  // namespace
}  // namespace cohort::test

#include "net/in_stream.h"
#include "net/memory_stream.h"
#include "net/out_stream.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using comm::Channel;
using comm::FrameHeader;
using net::Guard;
using net::InStream;
using net::OutStream;

std::vector<std::byte> pattern(std::size_t size, std::uint64_t seed) {
  const RandomStream random(seed, 2);
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(random.bits(i / 8) >> i % 8 * 8);
  return bytes;
}

struct Recorder {
  static Result<bool> admit(const FrameHeader&) { return true; }
  std::span<std::byte> buffer_for(const FrameHeader& header) {
    if (payload.size() != header.size_bytes) payload.assign(header.size_bytes, std::byte{0});
    if (drops) return {};
    return payload;
  }
  void arrived(const FrameHeader& header) {
    headers.push_back(header);
    payloads.push_back(std::exchange(payload, {}));
  }
  void withdrawn(const FrameHeader&) {
    payload.clear();
    ++num_withdrawn;
  }
  int num_withdrawn = 0;
  bool drops = false;
  std::vector<std::byte> payload;
  std::vector<FrameHeader> headers;
  std::vector<std::vector<std::byte>> payloads;
};

constexpr std::size_t kSizes[] = {
    0, 1, 7, 4096, 16384, 16385, 200000, 0, 65537, 3, (std::size_t{1} << 20) + 5};

FrameHeader header_of(std::size_t i, std::size_t size, std::uint32_t generation = 0) {
  return {
      .channel = Channel::kMessage, .group = 4, .generation = generation, .number = i, .size_bytes = size};
}

// Writes and reads until nothing moves any more; false if the pipe broke.
bool pump(OutStream& out, InStream& in, MemoryPipe& pipe, Recorder& recorder) {
  auto from = pipe.end(0);
  auto to = pipe.end(1);
  for (int idle = 0; idle < 200;) {
    bool moved = false;
    if (out.has_more()) {
      const auto put = from.write(out.gather(100000));
      if (!put) return false;
      out.wrote(*put);
      moved = *put > 0;
    }
    const auto got = in.read(to, recorder, 50000);
    if (!got) {
      EXPECT_EQ(got.error().code(), ErrorCode::kPeerLost) << got.error().text();
      return false;
    }
    idle = moved || *got > 0 ? 0 : idle + 1;
  }
  return true;
}

TEST(Streams, MessagesArriveWhole) {
  for (const Guard guard : {Guard::kChecksum, Guard::kNone}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      OutStream out(guard);
      InStream in(guard);
      MemoryPipe pipe(seed);
      Recorder recorder;
      std::vector<std::vector<std::byte>> payloads;
      int num_sent = 0;
      for (const std::size_t size : kSizes) payloads.push_back(pattern(size, seed + payloads.size()));
      for (std::size_t i = 0; i < payloads.size(); ++i) {
        out.add(header_of(i, payloads[i].size()), payloads[i], [&](const Status&) { ++num_sent; });
      }
      ASSERT_TRUE(pump(out, in, pipe, recorder));
      EXPECT_EQ(recorder.payloads, payloads);
      ASSERT_TRUE(out.has_taken(in.num_taken()));
      for (const auto& sent : out.take_ready()) sent({});
      EXPECT_EQ(num_sent, static_cast<int>(payloads.size()));
      EXPECT_FALSE(out.has_more());
    }
  }
}

TEST(Streams, ABrokenConnectionLosesAndRepeatsNothing) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    OutStream out(Guard::kChecksum);
    InStream in(Guard::kChecksum);
    Recorder recorder;
    std::vector<std::vector<std::byte>> payloads;
    for (const std::size_t size : kSizes) payloads.push_back(pattern(size, seed + payloads.size()));
    for (std::size_t i = 0; i < payloads.size(); ++i)
      out.add(header_of(i, payloads[i].size()), payloads[i], {});
    for (int connection = 0; recorder.payloads.size() < payloads.size(); ++connection) {
      ASSERT_LT(connection, 400);
      MemoryPipe pipe(seed * 1000 + static_cast<std::uint64_t>(connection));
      pipe.break_after(1 + RandomStream(seed, 3).bits(static_cast<std::uint64_t>(connection)) % 90000);
      in.start_over();
      ASSERT_TRUE(out.go_on_from(in.num_taken()));
      pump(out, in, pipe, recorder);
    }
    EXPECT_EQ(recorder.payloads, payloads) << "seed " << seed;
  }
}

TEST(Streams, AWithdrawnMessageIsNotReadAnyMore) {
  OutStream out(Guard::kChecksum);
  InStream in(Guard::kChecksum);
  Recorder recorder;
  auto first = std::make_unique<std::vector<std::byte>>(pattern(300000, 1));
  auto second = std::make_unique<std::vector<std::byte>>(pattern(200000, 2));
  const auto third = pattern(100000, 3);
  int num_sent = 0;
  const auto count = [&](const Status&) { ++num_sent; };
  out.add(header_of(0, first->size(), 1), *first, count);
  out.add(header_of(1, second->size(), 1), *second, count);
  out.add(header_of(2, third.size(), 2), third, count);
  MemoryPipe pipe(5);
  auto from = pipe.end(0);
  for (std::size_t put = 0; put < 1000;) {
    const std::size_t some = *from.write(out.gather(500));
    out.wrote(some);
    put += some;
  }
  out.withdraw(4, 1);
  first.reset();
  second.reset();
  ASSERT_TRUE(pump(out, in, pipe, recorder));
  ASSERT_EQ(recorder.headers.size(), 1u)
      << "the first is written half-way, the second not at all, the third is not cancelled";
  EXPECT_EQ(recorder.num_withdrawn, 1);
  EXPECT_EQ(recorder.headers[0].number, 2u);
  EXPECT_EQ(recorder.payloads[0], third);
  ASSERT_TRUE(out.has_taken(in.num_taken()));
  for (const auto& sent : out.take_ready()) sent({});
  EXPECT_EQ(num_sent, 1);
}

TEST(Streams, PayloadsThatNobodyWantsAreSkipped) {
  OutStream out(Guard::kChecksum);
  InStream in(Guard::kChecksum);
  Recorder recorder;
  recorder.drops = true;
  const auto large = pattern(300000, 1);
  out.add(header_of(0, large.size()), large, {});
  out.add(header_of(1, 0), {}, {});
  MemoryPipe pipe(5);
  ASSERT_TRUE(pump(out, in, pipe, recorder));
  EXPECT_EQ(recorder.headers.size(), 2u);
}

TEST(Streams, NotMoreIsCopiedThanTheOtherSideTakes) {
  OutStream out(Guard::kChecksum);
  const auto payload = pattern(OutStream::kCopied, 1);
  constexpr std::size_t kMany = 1000;
  for (std::size_t i = 0; i < kMany; ++i)
    out.add(header_of(i, payload.size()), payload, [](const Status&) {});
  const std::size_t num_ready = out.take_ready().size();
  EXPECT_LE(num_ready * OutStream::kCopied, OutStream::kCopiedCap + OutStream::kCopied);
  InStream in(Guard::kChecksum);
  MemoryPipe pipe(5);
  Recorder recorder;
  ASSERT_TRUE(pump(out, in, pipe, recorder));
  ASSERT_TRUE(out.has_taken(in.num_taken()));
  EXPECT_EQ(num_ready + out.take_ready().size(), kMany);
}

TEST(Streams, AFlippedBitIsNoticed) {
  for (std::size_t position = 0; position < 64 + 300 + 8; ++position) {
    OutStream out(Guard::kChecksum);
    InStream in(Guard::kChecksum);
    Recorder recorder;
    const auto payload = pattern(300, 1);
    out.add(header_of(0, payload.size()), payload, {});
    std::vector<std::byte> wire;
    for (const iovec& part : out.gather(1000)) {
      const auto* bytes = static_cast<const std::byte*>(part.iov_base);
      wire.insert(wire.end(), bytes, bytes + part.iov_len);
    }
    ASSERT_EQ(wire.size(), 64u + 300 + 8);
    wire[position] ^= std::byte{16};
    MemoryPipe pipe(1);
    auto from = pipe.end(0);
    auto to = pipe.end(1);
    Status outcome;
    for (std::size_t put = 0; put < wire.size() && outcome;) {
      const iovec rest{wire.data() + put, wire.size() - put};
      put += *from.write({&rest, 1});
      if (const auto got = in.read(to, recorder, 1000); !got) outcome = got.error();
    }
    for (int i = 0; i < 100 && outcome; ++i) {
      if (const auto got = in.read(to, recorder, 1000); !got) outcome = got.error();
    }
    ASSERT_FALSE(outcome) << "byte " << position;
    EXPECT_EQ(outcome.error().root().code(), ErrorCode::kCorrupt);
    EXPECT_TRUE(recorder.headers.empty());
  }
}

TEST(Streams, AClaimToHaveMoreThanWasSentIsRefused) {
  OutStream out(Guard::kNone);
  EXPECT_FALSE(out.has_taken(1));
  EXPECT_FALSE(out.go_on_from(64));
  out.add(header_of(0, 0), {}, {});
  EXPECT_FALSE(out.has_taken(64)) << "queued, not written";
  out.wrote(64 * (out.gather(100).size()));
  EXPECT_TRUE(out.has_taken(64));
  EXPECT_TRUE(out.has_taken(63)) << "an old acknowledgement";
  EXPECT_FALSE(out.go_on_from(63)) << "acknowledged before";
}

}  // namespace
}  // namespace cohort::test

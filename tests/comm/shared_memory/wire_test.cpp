#include "base/error_codes.h"
#include "comm/shared_memory/control_packets.h"
#include "comm/shared_memory/parts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using comm::AbortNotice;
using comm::ControlMessage;
using comm::Farewell;
using comm::Hello;
using comm::PartEntry;

constexpr Hello kHello{
    .rank = 3, .world = 17, .generation = 0x01020304, .members = 77, .arena_bytes = 8ull << 30};

TEST(Hello, ComesBackAsItWas) {
  const Hello hello = value_or_throw(Hello::decode(kHello.encode()));
  EXPECT_EQ(hello.rank, 3U);
  EXPECT_EQ(hello.world, 17U);
  EXPECT_EQ(hello.generation, 0x01020304U);
  EXPECT_EQ(hello.members, 77U);
  EXPECT_EQ(hello.arena_bytes, 8ull << 30);
}

TEST(Hello, OfAnotherLengthIsCorrupt) {
  const auto bytes = kHello.encode();
  std::vector<std::byte> longer(bytes.begin(), bytes.end());
  longer.push_back(std::byte{0});
  for (std::size_t length = 0; length <= longer.size(); ++length) {
    if (length == bytes.size()) continue;
    const Result<Hello> hello = Hello::decode(std::span(longer).first(length));
    ASSERT_FALSE(hello) << length;
    EXPECT_EQ(hello.error().code(), ErrorCode::kCorrupt);
  }
}

// A flipped bit in magic or version is detected; any other changes exactly one field.
TEST(Hello, AFlippedBitIsNoticedOrChangesOneFieldOnly) {
  for (std::size_t bit = 0; bit < Hello::kSize * 8; ++bit) {
    auto bytes = kHello.encode();
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const Result<Hello> hello = Hello::decode(bytes);
    if (bit < 64) {
      ASSERT_FALSE(hello) << bit;
      EXPECT_EQ(hello.error().code(), ErrorCode::kCorrupt);
    } else if (bit < 96) {
      ASSERT_FALSE(hello) << bit;
      EXPECT_EQ(hello.error().code(), ErrorCode::kUnsupported);
      EXPECT_FALSE(hello.error().remedy().empty());
    } else {
      ASSERT_TRUE(hello) << bit;
      const int changes = (hello->rank != kHello.rank) + (hello->world != kHello.world) +
                          (hello->generation != kHello.generation) + (hello->members != kHello.members) +
                          (hello->arena_bytes != kHello.arena_bytes);
      EXPECT_EQ(changes, 1) << bit;
    }
  }
}

TEST(ControlMessage, ComesBackAsItWas) {
  const ControlMessage farewell = value_or_throw(comm::decode_control_message(comm::encode(Farewell{})));
  EXPECT_TRUE(std::holds_alternative<Farewell>(farewell));
  for (const std::string& text : {std::string(), std::string("why: 'so'"), std::string(1, '\0')}) {
    const ControlMessage message = value_or_throw(comm::decode_control_message(
        comm::encode(AbortNotice{0xfedcba9876543210, ErrorCode::kTimedOut, 3, text})));
    const auto& abort = std::get<AbortNotice>(message);
    EXPECT_EQ(abort.group, 0xfedcba9876543210);
    EXPECT_EQ(abort.code, ErrorCode::kTimedOut);
    EXPECT_EQ(abort.about, 3);
    EXPECT_EQ(abort.text, text);
  }
}

TEST(ControlMessage, ALongTextIsCutToTheCap) {
  const std::string text(2 * comm::kControlMessageCap, 'x');
  const std::vector<std::byte> bytes = comm::encode(AbortNotice{1, ErrorCode::kAborted, {}, text});
  EXPECT_EQ(bytes.size(), comm::kControlMessageCap);
  const ControlMessage message = value_or_throw(comm::decode_control_message(bytes));
  EXPECT_EQ(std::get<AbortNotice>(message).text, text.substr(0, comm::kControlMessageCap - 14));
}

std::string error_of(const std::vector<std::byte>& bytes) {
  const auto message = comm::decode_control_message(bytes);
  return message ? "none" : message.error().message();
}

TEST(ControlMessage, ErrorsGiveFieldExpectedAndFound) {
  EXPECT_EQ(error_of({}), "corrupt control packet: length 0, expected at least 1");
  EXPECT_EQ(error_of({std::byte{7}}), "corrupt control packet: kind 7, expected 1 (farewell) or 2 (abort)");
  EXPECT_EQ(error_of({std::byte{1}, std::byte{0}}), "corrupt farewell packet: length 2, expected 1");
  EXPECT_EQ(error_of({std::byte{2}}),
            "corrupt abort packet: field group is cut off after 0 bytes, expected 8");
  std::vector<std::byte> abort = comm::encode(AbortNotice{7, ErrorCode::kAborted, {}, ""});
  abort[9] = std::byte{200};
  EXPECT_EQ(error_of(abort), fmt::format("corrupt abort packet: field error code is 200, expected 0 … {}",
                                         static_cast<int>(kLastErrorCode)));
}

TEST(Hello, ErrorsGiveFieldExpectedAndFound) {
  auto bytes = kHello.encode();
  EXPECT_EQ(Hello::decode(std::span(bytes).first(5)).error().message(),
            "corrupt hello packet: length 5, expected 40");
  bytes[8] = std::byte{9};
  EXPECT_EQ(Hello::decode(bytes).error().message(), "unsupported hello packet: version 9, expected 3");
  bytes[0] = std::byte{0};
  EXPECT_EQ(Hello::decode(bytes).error().message(),
            "corrupt hello packet: magic 0x3174726f686f4300, expected 0x3174726f686f4331");
}

TEST(ControlMessage, EverythingElseIsCorrupt) {
  const std::vector<std::byte> bytes = comm::encode(AbortNotice{7, ErrorCode::kAborted, {}, ""});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(comm::decode_control_message(std::span(bytes).first(length))) << length;
  }
  for (int kind = 0; kind < 256; ++kind) {
    std::vector<std::byte> other = bytes;
    other[0] = static_cast<std::byte>(kind);
    EXPECT_EQ(comm::decode_control_message(other).has_value(), kind == 2) << kind;
  }
  for (int code = 0; code < 256; ++code) {
    std::vector<std::byte> other = bytes;
    other[9] = static_cast<std::byte>(code);
    EXPECT_EQ(comm::decode_control_message(other).has_value(), code <= static_cast<int>(kLastErrorCode))
        << code;
  }
}

TEST(Parts, FollowEachOtherWithoutGaps) {
  for (int world = 1; world <= 9; ++world) {
    std::vector<std::size_t> counts;
    std::size_t total = 0;
    for (int rank = 0; rank < world; ++rank)
      total += counts.emplace_back(static_cast<std::size_t>(rank * 5 % 7));
    std::size_t next = 0;
    for (int rank = 0; rank < world; ++rank) {
      const PartEntry part = comm::part_of(total, counts, rank, world);
      EXPECT_EQ(part.first, next);
      EXPECT_EQ(part.count, counts[static_cast<std::size_t>(rank)]);
      next += part.count;
      const PartEntry even = comm::part_of(static_cast<std::size_t>(world) * 13, {}, rank, world);
      EXPECT_EQ(even.first, static_cast<std::size_t>(rank) * 13);
      EXPECT_EQ(even.count, 13U);
    }
    EXPECT_EQ(next, total);
  }
}

// Slices cover the whole, begin on cache lines, and differ by at most one cache line.
TEST(Slices, AreEvenAndOnCacheLines) {
  for (const std::size_t element_bytes : std::initializer_list<std::size_t>{1, 2, 4, 8}) {
    const std::size_t grain = comm::kCacheLine / element_bytes;
    for (int world = 1; world <= 9; ++world) {
      for (std::size_t count = 0; count < 1200; count += count < 300 ? 1 : 37) {
        std::size_t next = 0;
        std::size_t shortest = count;
        std::size_t longest = 0;
        for (int rank = 0; rank < world; ++rank) {
          const PartEntry slice = comm::slice_of(count, element_bytes, rank, world);
          ASSERT_EQ(slice.first, next);
          ASSERT_TRUE(slice.first % grain == 0 || slice.first == count);
          next += slice.count;
          shortest = std::min<std::size_t>(shortest, slice.count);
          longest = std::max<std::size_t>(longest, slice.count);
        }
        ASSERT_EQ(next, count);
        ASSERT_LT(longest - shortest, 2 * grain) << count << " in " << world;
      }
    }
  }
}

}  // namespace
}  // namespace cohort::test

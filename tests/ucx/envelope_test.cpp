#include "ucx/envelope.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>

namespace cohort::ucx {
namespace {

const Envelope kExample = {.from = 0x01020304,
                           .number = 0x1112131415161718,
                           .frame = {.channel = comm::Channel::kReply, .group = 7, .size_bytes = 12}};

std::array<std::byte, kEnvelopeBytes> encoded() {
  std::array<std::byte, kEnvelopeBytes> bytes{};
  encode(kExample, bytes);
  return bytes;
}

TEST(Envelope, ComesBack) {
  const auto back = decode_envelope(encoded());
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, kExample);
}

TEST(Envelope, IsOnTheWireAsWritten) {
  const auto bytes = encoded();
  EXPECT_EQ(std::memcmp(bytes.data(),
                        "COHX\x04\x03\x02\x01\x18\x17\x16\x15\x14\x13\x12\x11"
                        "COHF",
                        20),
            0);
}

TEST(Envelope, RefusesCorruptBytes) {
  const auto bytes = encoded();
  EXPECT_FALSE(decode_envelope(std::span(bytes).first(kEnvelopeBytes - 1)));
  EXPECT_FALSE(decode_envelope({}));
  EXPECT_EQ(decode_envelope(std::span(bytes).first(3)).error().message(),
            "corrupt envelope of a UCX message: length 3, expected 80");
  EXPECT_EQ(decode_envelope(std::array<std::byte, kEnvelopeBytes>{}).error().message(),
            "corrupt envelope of a UCX message: magic 0x00000000, expected 0x58484f43");
  for (const unsigned at : {0U, 3U, 16U, 30U, 79U}) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{1};
    const auto back = decode_envelope(damaged);
    ASSERT_FALSE(back) << at;
    EXPECT_EQ(back.error().code(), ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace cohort::ucx

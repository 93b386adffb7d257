#include "comm/message_passing/announcement.h"

#include <gtest/gtest.h>
#include <vector>

namespace cohort::comm {
namespace {

Call sum_of(std::size_t count) {
  return {.operation = Operation::kAllReduce,
          .input = {nullptr, count, DType::kF32},
          .output = {nullptr, count, DType::kF32}};
}

TEST(Announcement, ComesBackAsItWasSent) {
  Call call = sum_of(1024);
  call.reduce_op = ReduceOp::kMax;
  const Announcement sent = announcement_of(call, 3);
  const Result<Announcement> back = decode_announcement(encode(sent));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->agrees_with(sent));
  EXPECT_EQ(back->signature(), sent.signature());
  EXPECT_EQ(back->text(), call.text());
}

TEST(Announcement, ComparesOnlyFieldsThatMustAgree) {
  const Announcement usual = announcement_of(sum_of(12), 3);
  EXPECT_TRUE(usual.agrees_with(announcement_of(sum_of(12).within(std::chrono::seconds(1)), 3)));
  EXPECT_FALSE(usual.agrees_with(announcement_of(sum_of(13), 3)));
  EXPECT_NE(usual.signature(), announcement_of(sum_of(13), 3).signature());

  const auto parts = [](std::vector<std::size_t> counts) {
    return announcement_of({.operation = Operation::kAllGather,
                            .input = {nullptr, 2, DType::kI32},
                            .output = {nullptr, 6, DType::kI32},
                            .output_counts = std::move(counts)},
                           3);
  };
  EXPECT_FALSE(parts({1, 2, 3}).agrees_with(parts({3, 2, 1})));
  EXPECT_TRUE(parts({2, 2, 2}).agrees_with(parts({}))) << "equal counts may be given or not";

  // In gather only the root knows the lengths of the others.
  const auto part = [](std::size_t count) {
    return announcement_of({.operation = Operation::kGather, .input = {nullptr, count, DType::kI32}}, 3);
  };
  EXPECT_TRUE(part(4).agrees_with(part(9)));
}

TEST(Announcement, TellsTheWireType) {
  const Announcement usual = announcement_of(sum_of(12), 3);
  const Announcement rounded = announcement_of(sum_of(12), 3, WireDType::kFloat16);
  EXPECT_FALSE(usual.agrees_with(rounded));
  EXPECT_NE(usual.signature(), rounded.signature());
  EXPECT_EQ(rounded.text(), "all_reduce of 12 f32 (sum) with f16 on the wire");
  const Result<Announcement> back = decode_announcement(encode(rounded));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->agrees_with(rounded));
}

TEST(Announcement, NonsenseIsCorrupt) {
  auto bytes = encode(announcement_of(sum_of(3), 2));
  EXPECT_EQ(decode_announcement(std::span(bytes).first(31)).error().text(),
            "corrupt announcement: field count is cut off after 7 bytes, expected 8");
  for (const std::size_t index : {0U, 1U, 2U, 3U}) {
    auto broken = bytes;
    broken[index] = std::byte{0xff};
    const Result<Announcement> back = decode_announcement(broken);
    ASSERT_FALSE(back) << index;
    EXPECT_EQ(back.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(Notice, ComesBackAsItWasSent) {
  const Error why =
      Error(ErrorCode::kTimedOut, "rank 2 has not arrived").within("call 7").with_remedy("Wait.");
  const Result<Notice> back = decode_notice(encode(Notice{Notice::Kind::kLeft, 41, why}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->kind, Notice::Kind::kLeft);
  EXPECT_EQ(back->num_completed, 41U);
  EXPECT_EQ(back->why.text(), why.text());
  EXPECT_EQ(back->why.code(), ErrorCode::kTimedOut);
}

TEST(Notice, NonsenseIsCorrupt) {
  std::vector<std::byte> bytes = encode(Notice{Notice::Kind::kFailed, 1, Error(ErrorCode::kIo, "x")});
  EXPECT_FALSE(decode_notice(std::span(bytes).first(8)));
  bytes[0] = std::byte{9};
  EXPECT_FALSE(decode_notice(bytes));
}

}  // namespace
}  // namespace cohort::comm

#include "comm/exchange/send_window.h"

#include "comm/exchange/open_offers.h"

#include <gtest/gtest.h>

namespace cohort::comm {
namespace {

using Verdict = OfferAnswer::Verdict;

FrameHeader message(std::uint64_t number, std::uint64_t size_bytes, std::uint32_t group = 3) {
  return {.channel = Channel::kCollective, .group = group, .number = number, .size_bytes = size_bytes};
}

TEST(SendWindow, AdmitsAsMuchAsThereIsRoomFor) {
  SendWindow window(100);
  EXPECT_TRUE(window.admits(message(1, 60)));
  EXPECT_FALSE(window.admits(message(2, 41)));
  EXPECT_TRUE(window.admits(message(3, 40)));
  EXPECT_FALSE(window.admits(message(4, 1)));
  EXPECT_TRUE(window.admits(message(5, 0))) << "a message without payload takes no memory";
}

TEST(SendWindow, AsksOnceWhenHalfOfTheRoomMayBeUsed) {
  SendWindow window(100);
  EXPECT_TRUE(window.admits(message(1, 50)));
  EXPECT_FALSE(window.question());
  EXPECT_TRUE(window.admits(message(2, 1)));
  const std::optional<MessageOffer> question = window.question();
  ASSERT_TRUE(question);
  EXPECT_EQ(question->num_sent, 51u);
  EXPECT_FALSE(window.question()) << "one question at a time";
  EXPECT_FALSE(window.answered({.num_sent = 51, .room_bytes = 10}));
  EXPECT_FALSE(window.question());
  EXPECT_TRUE(window.admits(message(3, 6)));
  EXPECT_TRUE(window.question());
}

TEST(SendWindow, MessagesSentSinceTheQuestionTakeFromTheRoom) {
  SendWindow window(100);
  EXPECT_TRUE(window.admits(message(1, 60)));
  const std::optional<MessageOffer> question = window.question();
  EXPECT_TRUE(window.admits(message(2, 30)));
  window.answered({.num_sent = question->num_sent, .room_bytes = 40});
  EXPECT_FALSE(window.admits(message(3, 11)));
  EXPECT_TRUE(window.admits(message(4, 10)));
}

TEST(SendWindow, AHeldMessageIsReturnedWhenItIsCalledFor) {
  SendWindow window(100);
  EXPECT_FALSE(window.admits(message(1, 101)));
  const MessageOffer offer = window.hold({message(1, 101), {}, {}});
  EXPECT_EQ(offer.message, message(1, 101));
  EXPECT_FALSE(window.answered({.ticket = offer.ticket, .verdict = Verdict::kLater, .room_bytes = 100}));
  const auto send = window.answered({.ticket = offer.ticket, .verdict = Verdict::kSend, .room_bytes = 100});
  ASSERT_TRUE(send);
  EXPECT_EQ(send->header, message(1, 101));
  EXPECT_FALSE(window.answered({.ticket = offer.ticket, .verdict = Verdict::kSend, .room_bytes = 100}))
      << "once";
  EXPECT_TRUE(window.admits(message(2, 100))) << "a message that was called for takes no room";
}

TEST(SendWindow, AMessageDoesNotOvertakeAnEqualOne) {
  SendWindow window(100);
  const MessageOffer offer = window.hold({message(1, 101), {}, {}});
  EXPECT_FALSE(window.admits(message(1, 5)));
  EXPECT_TRUE(window.admits(message(2, 5)));
  window.answered({.ticket = offer.ticket, .verdict = Verdict::kSend, .room_bytes = 100});
  EXPECT_TRUE(window.admits(message(1, 5)));
}

TEST(SendWindow, ACancelledGroupIsForgotten) {
  SendWindow window(0);
  const MessageOffer over = window.hold({message(1, 5, 3), {}, {}});
  const MessageOffer other = window.hold({message(1, 5, 4), {}, {}});
  const std::vector<MessageOffer> ended = window.forget(3, 0);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].ticket, over.ticket);
  EXPECT_FALSE(ended[0].message);
  EXPECT_FALSE(window.answered({.ticket = over.ticket, .verdict = Verdict::kSend}));
  EXPECT_TRUE(window.answered({.ticket = other.ticket, .verdict = Verdict::kDrop}));
}

TEST(SendWindow, HoldsNothingAfterItsEnd) {
  SendWindow window(0);
  window.hold({message(1, 5), {}, {}});
  EXPECT_EQ(window.end().size(), 1u);
  EXPECT_TRUE(window.end().empty());
  EXPECT_TRUE(window.admits(message(2, 5)));
  EXPECT_FALSE(window.question());
}

TEST(OpenOffers, AreTakenByKeyInOrder) {
  OpenOffers offers;
  const MatchKey key = MatchKey::of(1, message(7, 1));
  const MatchKey other = MatchKey::of(1, message(8, 1));
  for (const std::uint64_t ticket : {1u, 2u, 3u}) offers.add(key, ticket);
  offers.add(other, 4);
  offers.remove({1, 2});
  offers.remove({0, 1});
  EXPECT_EQ(offers.take(key)->number, 1u);
  EXPECT_EQ(offers.take(key)->number, 3u);
  EXPECT_FALSE(offers.take(key));
  EXPECT_EQ(offers.take_all([](const MatchKey& each) { return each.member == 1; }).size(), 1u);
  EXPECT_FALSE(offers.take(other));
}

TEST(MessageOffer, ComesBackAsItWas) {
  for (const auto& header : {std::optional<FrameHeader>(), std::optional(message(7, 9))}) {
    const auto offer = decode_offer(encode(MessageOffer{3, 4, header}));
    ASSERT_TRUE(offer);
    EXPECT_EQ(offer->ticket, 3u);
    EXPECT_EQ(offer->num_sent, 4u);
    EXPECT_EQ(offer->message, header);
  }
  const auto answer = decode_offer_answer(encode(OfferAnswer{3, Verdict::kDrop, 4, 5}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->ticket, 3u);
  EXPECT_EQ(answer->verdict, Verdict::kDrop);
  EXPECT_EQ(answer->num_sent, 4u);
  EXPECT_EQ(answer->room_bytes, 5u);
}

TEST(MessageOffer, BytesThatNoMemberWritesAreRefused) {
  std::vector<std::byte> offer = encode(MessageOffer{3, 4, message(7, 9)});
  EXPECT_LE(offer.size(), kOfferBytesCap);
  for (std::size_t size = 0; size < offer.size(); ++size) {
    EXPECT_EQ(decode_offer(std::span(offer).first(size)).has_value(), size == 16) << size;
  }
  offer[30] ^= std::byte{1};
  EXPECT_EQ(decode_offer(offer).error().code(), ErrorCode::kCorrupt);
  std::vector<std::byte> answer = encode(OfferAnswer{3, Verdict::kSend, 4, 5});
  for (std::size_t size = 0; size < answer.size(); ++size) {
    EXPECT_FALSE(decode_offer_answer(std::span(answer).first(size))) << size;
  }
  answer[8] = std::byte{3};
  EXPECT_EQ(decode_offer_answer(answer).error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace cohort::comm

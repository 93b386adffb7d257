#include "comm/exchange/matching.h"

#include <gtest/gtest.h>

namespace cohort::comm {
namespace {

KeptMessage message(int from, std::uint64_t number, std::uint64_t sequence, std::size_t size_bytes = 1) {
  return {from,
          {.channel = Channel::kMessage, .group = 3, .generation = 1, .number = number, .sequence = sequence},
          std::vector<std::byte>(size_bytes)};
}

MatchKey key(int member, std::uint64_t number) {
  return MatchKey::of(member, message(member, number, 0).header);
}

std::vector<std::uint64_t> sequences(const std::vector<KeptMessage>& messages) {
  std::vector<std::uint64_t> all;
  for (const KeptMessage& each : messages) all.push_back(each.header.sequence);
  return all;
}

TEST(Matching, OnlyEqualKeysMeet) {
  Matching matching(3);
  matching.add(message(1, 7, 1));
  matching.add(key(2, 7), {.signature = 5});
  for (const MatchKey& other : {key(0, 7), key(1, 8)}) EXPECT_FALSE(matching.take_message(other));
  MatchKey another_tag = key(1, 7);
  another_tag.tag = 1;
  EXPECT_FALSE(matching.take_message(another_tag));
  EXPECT_FALSE(matching.take_receive(key(1, 7)));
  EXPECT_TRUE(matching.take_message(key(1, 7)));
  EXPECT_FALSE(matching.take_message(key(1, 7))) << "a message is taken once";
  EXPECT_EQ(matching.take_receive(key(2, 7))->signature, 5u);
  EXPECT_FALSE(matching.take_receive(key(2, 7))) << "a receive is taken once";
}

TEST(Matching, EveryReceiveCallsForOneMessage) {
  Matching matching(1);
  EXPECT_FALSE(matching.call_for(key(0, 7)));
  matching.add(key(0, 7), {.signature = 1});
  matching.add(key(0, 7), {.signature = 2});
  EXPECT_FALSE(matching.call_for(key(0, 8)));
  EXPECT_TRUE(matching.call_for(key(0, 7)));
  EXPECT_TRUE(matching.call_for(key(0, 7)));
  EXPECT_FALSE(matching.call_for(key(0, 7)));
}

TEST(Matching, EqualKeysMatchInOrder) {
  Matching matching(1);
  for (const std::uint64_t number : {1u, 2u, 3u}) {
    matching.add(message(0, 7, number));
    matching.add(key(0, 9), {.signature = number});
  }
  for (const std::uint64_t number : {1u, 2u, 3u}) {
    EXPECT_EQ(matching.take_message(key(0, 7))->header.sequence, number);
    EXPECT_EQ(matching.take_receive(key(0, 9))->signature, number);
  }
}

TEST(Matching, MessagesOfAGroupComeInTheOrderOfTheirSender) {
  Matching matching(2);
  matching.add(message(1, 50, 4));
  matching.add(message(0, 9, 1));
  matching.add(message(0, 2, 2));  // a smaller number, sent later
  matching.add(message(0, 5, 3));
  KeptMessage stranger = message(0, 1, 4);
  stranger.header.group = 4;
  matching.add(std::move(stranger));
  EXPECT_EQ(sequences(matching.take_messages_of(Channel::kMessage, 3)),
            (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_TRUE(matching.take_messages_of(Channel::kMessage, 3).empty());
  EXPECT_EQ(matching.take_messages_of(Channel::kMessage, 4).size(), 1u);
}

TEST(Matching, BytesAreCountedForEachMemberUntilTheyAreTaken) {
  Matching matching(2);
  matching.add(message(0, 1, 1, 100));
  matching.add(message(0, 2, 2, 10));
  matching.add(message(0, 3, 3, 1));
  matching.add(message(1, 1, 1, 1000));
  EXPECT_EQ(matching.kept_bytes(0), 111u);
  EXPECT_EQ(matching.kept_bytes(1), 1000u);
  matching.take_message(key(0, 2));
  EXPECT_EQ(matching.kept_bytes(0), 101u);
  matching.take_messages_of(Channel::kMessage, 3);
  EXPECT_EQ(matching.kept_bytes(0) + matching.kept_bytes(1), 0u);
  matching.add(message(1, 1, 1, 1000));
  matching.forget(3, 1);
  EXPECT_EQ(matching.kept_bytes(1), 0u);
}

TEST(Matching, ForgetsUpToAGeneration) {
  Matching matching(1);
  for (const std::uint32_t generation : {1u, 2u, 3u}) {
    MatchKey at = key(0, 7);
    at.generation = generation;
    matching.add(at, {});
  }
  matching.forget(3, 2);
  matching.forget(99, 3);
  MatchKey at = key(0, 7);
  for (const std::uint32_t generation : {1u, 2u, 3u}) {
    at.generation = generation;
    EXPECT_EQ(matching.take_receive(at).has_value(), generation == 3) << generation;
  }
}

TEST(Matching, AllThatWaitForAMemberAreFound) {
  Matching matching(2);
  matching.add(key(0, 1), {.signature = 1});
  matching.add(key(0, 1), {.signature = 2});
  matching.add(key(0, 2), {.signature = 3});
  matching.add(key(1, 1), {.signature = 4});
  EXPECT_EQ(matching.take_receives_of(0).size(), 3u);
  EXPECT_TRUE(matching.take_receives_of(0).empty());
  EXPECT_TRUE(matching.take_receive(key(1, 1)));
}

}  // namespace
}  // namespace cohort::comm

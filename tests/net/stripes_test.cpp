#include "net/stripes.h"

#include "net/striped_pair.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using comm::Channel;
using comm::FrameHeader;
using net::Assembly;
using net::OutStream;
using net::Stripe;
using net::stripe_of;

std::vector<std::byte> pattern(std::size_t size, std::uint64_t seed) {
  const RandomStream random(seed, 2);
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(random.bits(i / 8) >> i % 8 * 8);
  return bytes;
}

FrameHeader header_of(std::size_t number, std::size_t size, std::uint32_t generation = 0) {
  return {.channel = Channel::kMessage,
          .group = 4,
          .generation = generation,
          .number = number,
          .sequence = number + 1,
          .size_bytes = size};
}

TEST(Stripes, CoverAPayloadOnceAndInOrder) {
  for (std::size_t num_rails = 1; num_rails <= net::kMostRails; ++num_rails) {
    for (const std::uint64_t size : {8ull, 9ull, 63ull, 64ull, 511ull, 513ull, 262144ull, 1000003ull}) {
      std::uint64_t next = 0;
      for (std::size_t rail = 0; rail < num_rails; ++rail) {
        const Stripe stripe = stripe_of(size, rail, num_rails);
        EXPECT_EQ(stripe.offset, next);
        EXPECT_GT(stripe.size_bytes, 0u);
        EXPECT_LE(stripe.size_bytes, size / num_rails + 64 * num_rails);
        next += stripe.size_bytes;
      }
      EXPECT_EQ(next, size);
    }
  }
}

constexpr std::size_t kSizes[] = {8, 13, 4096, 50000, 200000, 9, 65537, (std::size_t{1} << 20) + 5, 300};
constexpr std::size_t kEnough = 20000;  // steps until all messages have arrived

TEST(Stripes, MessagesArriveWholeAndInOrderWhicheverRailIsFirst) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    StripedPair pair(2 + seed % (net::kMostRails - 1), seed);
    std::vector<std::vector<std::byte>> payloads;
    int num_sent = 0;
    for (const std::size_t size : kSizes) payloads.push_back(pattern(size, seed + payloads.size()));
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      pair.send(header_of(2 * i, payloads[i].size()), payloads[i], [&](const Status&) { ++num_sent; });
      pair.out(0).add(header_of(2 * i + 1, 0), {}, {});
    }
    const Status outcome = pair.run(kEnough);
    ASSERT_TRUE(outcome) << outcome.error().text();
    ASSERT_EQ(pair.whole.headers.size(), 2 * payloads.size());
    for (std::size_t i = 0; i < pair.whole.headers.size(); ++i) {
      EXPECT_EQ(pair.whole.headers[i].number, i);
      EXPECT_EQ(pair.whole.payloads[i], i % 2 == 0 ? payloads[i / 2] : std::vector<std::byte>());
    }
    pair.acknowledge();
    EXPECT_EQ(num_sent, static_cast<int>(payloads.size()))
        << "one callback for each message, not for each stripe";
  }
}

TEST(Stripes, BrokenRailsLoseAndRepeatNothing) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    StripedPair pair(3, seed);
    std::vector<std::vector<std::byte>> payloads;
    for (const std::size_t size : kSizes) payloads.push_back(pattern(size, seed + payloads.size()));
    for (std::size_t i = 0; i < payloads.size(); ++i)
      pair.send(header_of(i, payloads[i].size()), payloads[i], {});
    const RandomStream dice(seed, 5);
    for (std::uint64_t round = 0; round < 200; ++round) {
      pair.break_after(dice.bits(2 * round) % 3, 1 + dice.bits(2 * round + 1) % 20000);
      const Status outcome = pair.run(100);
      ASSERT_TRUE(outcome) << outcome.error().text();
    }
    ASSERT_TRUE(pair.run(kEnough));
    EXPECT_EQ(pair.whole.payloads, payloads) << "seed " << seed;
  }
}

TEST(Stripes, AWithdrawnMessageEndsOnceAndIsNotReadAnyMore) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    StripedPair pair(3, seed);
    auto first = std::make_unique<std::vector<std::byte>>(pattern(300000, 1));
    auto second = std::make_unique<std::vector<std::byte>>(pattern(200000, 2));
    const auto third = pattern(100000, 3);
    int num_sent = 0;
    const auto count = [&](const Status&) { ++num_sent; };
    pair.send(header_of(0, first->size(), 1), *first, count);
    pair.send(header_of(1, second->size(), 1), *second, count);
    pair.send(header_of(2, third.size(), 2), third, count);
    ASSERT_TRUE(pair.run(seed));  // writes nothing, or a part of the first message
    pair.withdraw(4, 1);
    first.reset();
    second.reset();
    const Status outcome = pair.run(kEnough);
    ASSERT_TRUE(outcome) << outcome.error().text();
    EXPECT_EQ(pair.whole.withdrawn_numbers, (std::vector<std::uint64_t>{0, 1})) << "seed " << seed;
    ASSERT_EQ(pair.whole.payloads.size(), 1u);
    EXPECT_EQ(pair.whole.payloads[0], third);
    pair.acknowledge();
    EXPECT_EQ(num_sent, 1);
  }
}

TEST(Stripes, PayloadsThatNobodyWantsAreSkipped) {
  StripedPair pair(3, 1);
  pair.whole.drops = true;
  const auto large = pattern(300000, 1);
  pair.send(header_of(0, large.size()), large, {});
  pair.out(0).add(header_of(1, 0), {}, {});
  ASSERT_TRUE(pair.run(kEnough));
  EXPECT_EQ(pair.whole.headers.size(), 2u);
}

TEST(Stripes, TheFirstFailureIsSaidWhenAllRailsHaveSpoken) {
  std::vector<OutStream> rails(2, OutStream(net::Guard::kNone));
  std::vector<OutStream*> outs = {&rails[0], &rails[1]};
  const auto payload = pattern(100000, 1);
  std::vector<Status> said;
  net::add_striped(outs, 1, header_of(0, payload.size()), payload,
                   [&](const Status& status) { said.push_back(status); });
  for (const auto& sent : rails[0].abandon()) sent(Error(ErrorCode::kPeerLost, "it is gone"));
  EXPECT_TRUE(said.empty());
  for (const auto& sent : rails[1].abandon()) sent({});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_FALSE(said[0]);
}

// ----- frames that add_striped() does not write -----

struct Expecting {
  Expecting() : assembly(3, whole) {}

  // Delivers the heading of a message.
  Status head(std::uint64_t number, const FrameHeader& message) {
    const FrameHeader header{.channel = Channel::kStriped, .number = number, .size_bytes = 64};
    COHORT_ASSIGN_OR_RETURN(const bool may, assembly.admit(0, header));
    if (!may) return Error(ErrorCode::kTimedOut, "it must wait");
    comm::encode(message, assembly.buffer_for(0, header).first<64>());
    return assembly.arrived(0, header);
  }
  Status stripe(std::size_t rail, FrameHeader header) {
    header.channel = Channel::kStripe;
    COHORT_ASSIGN_OR_RETURN(const bool may, assembly.admit(rail, header));
    if (!may) return Error(ErrorCode::kTimedOut, "it must wait");
    (void)assembly.buffer_for(rail, header);
    return assembly.arrived(rail, header);
  }
  WholeMessages whole;
  Assembly<WholeMessages> assembly;
};

ErrorCode code_of(const Status& status) {
  return status ? ErrorCode::kUsage : status.error().root().code();
}

const FrameHeader kMessage = {.sequence = 1, .size_bytes = 300};
constexpr std::uint64_t kStep = 64;  // of three stripes of 300 bytes: 64, 64 and 172

TEST(Stripes, ThoseThatAreNotDueAreCorrupt) {
  const FrameHeader good{.number = 1, .tag = kStep, .size_bytes = kStep};
  const auto with = [&](auto change) {
    FrameHeader header = good;
    change(header);
    return header;
  };
  for (const FrameHeader& bad :
       {with([](FrameHeader& h) { h.number = 0; }), with([](FrameHeader& h) { h.number = 2; }),
        with([](FrameHeader& h) { h.tag = 0; }), with([](FrameHeader& h) { h.tag = ~std::uint64_t{0}; }),
        with([](FrameHeader& h) { h.size_bytes = 65; }), with([](FrameHeader& h) { h.size_bytes = 1; }),
        with([](FrameHeader& h) { h.group = 1; }), with([](FrameHeader& h) { h.generation = 1; })}) {
    Expecting one;
    ASSERT_TRUE(one.head(1, kMessage));
    EXPECT_EQ(code_of(one.stripe(1, bad)), ErrorCode::kCorrupt);
    EXPECT_TRUE(one.stripe(1, good)) << "the stripe that is due";
    EXPECT_EQ(code_of(one.stripe(1, good)), ErrorCode::kCorrupt) << "twice";
  }
}

TEST(Stripes, HeadingsThatNobodyWritesAreCorrupt) {
  EXPECT_EQ(code_of(Expecting().head(2, kMessage)), ErrorCode::kCorrupt) << "one is missing";
  EXPECT_EQ(code_of(Expecting().head(1, {.size_bytes = 2})), ErrorCode::kCorrupt) << "fewer bytes than rails";
  for (const Channel channel : {Channel::kReceipt, Channel::kFarewell, Channel::kStriped, Channel::kStripe}) {
    EXPECT_EQ(code_of(Expecting().head(1, {.channel = channel, .size_bytes = 300})), ErrorCode::kCorrupt);
  }
  WholeMessages whole;
  Assembly one_rail(1, whole);
  EXPECT_FALSE(one_rail.admit(0, {.channel = Channel::kStriped, .number = 1, .size_bytes = 64}));
  EXPECT_FALSE(one_rail.admit(0, {.channel = Channel::kStripe, .number = 1, .size_bytes = 64}));
  Expecting longer;
  EXPECT_FALSE(longer.assembly.admit(0, {.channel = Channel::kStriped, .number = 1, .size_bytes = 65}));
  EXPECT_FALSE(longer.assembly.withdrawn(0, {.channel = Channel::kStriped, .number = 1, .size_bytes = 64}));
}

TEST(Stripes, RailsSayWhatIsTheirs) {
  Expecting one;
  EXPECT_EQ(code_of(one.stripe(0, {.number = 1, .size_bytes = kStep})), ErrorCode::kCorrupt) << "no heading";
  EXPECT_EQ(code_of(one.stripe(1, {.number = 1, .tag = 64, .size_bytes = kStep})), ErrorCode::kTimedOut);
  EXPECT_FALSE(one.assembly.admit(1, {.channel = Channel::kMessage}));
  EXPECT_FALSE(one.assembly.admit(1, {.channel = Channel::kReceipt}));
  EXPECT_TRUE(one.assembly.admit(1, {.channel = Channel::kFarewell}));
  ASSERT_TRUE(one.head(1, kMessage));
  EXPECT_FALSE(one.assembly.admit(0, {.channel = Channel::kMessage})) << "where a stripe is due";
  ASSERT_TRUE(one.stripe(0, {.number = 1, .size_bytes = kStep}));
  EXPECT_FALSE(*one.assembly.admit(0, {.channel = Channel::kMessage})) << "stripes are missing";
  ASSERT_TRUE(one.stripe(1, {.number = 1, .tag = kStep, .size_bytes = kStep}));
  ASSERT_TRUE(one.stripe(2, {.number = 1, .tag = 2 * kStep, .size_bytes = 172}));
  EXPECT_EQ(one.whole.headers.size(), 1u);
  EXPECT_TRUE(*one.assembly.admit(0, {.channel = Channel::kMessage}));
}

}  // namespace
}  // namespace cohort::test

#include "world/card.h"
#include "world/locality.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using world::Card;

Card some_card() {
  return {.version = "1.2.3",
          .door = "cohort-abc",
          .addresses = {*net::SocketAddress::parse("10.0.0.7:4711"),
                        *net::SocketAddress::parse("[fd00::7]:4711")}};
}

TEST(Card, SaysWhatWasSaid) {
  const auto card = Card::parse(some_card().text());
  ASSERT_TRUE(card) << card.error().text();
  EXPECT_EQ(card->text(), some_card().text());
  EXPECT_EQ(card->addresses.size(), 2u);
}

TEST(Card, OfUcxSaysWhereItsWorkerIs) {
  Card own = some_card();
  own.backend = Backend::kUcx;
  own.addresses.clear();
  own.worker = {std::byte{0}, std::byte{0x7f}, std::byte{0xff}};
  EXPECT_NE(own.text().find("backend ucx\nworker 007fff\n"), std::string::npos) << own.text();
  const auto card = Card::parse(own.text());
  ASSERT_TRUE(card) << card.error().text();
  EXPECT_EQ(card->backend, Backend::kUcx);
  EXPECT_EQ(card->worker, own.worker);
}

TEST(Card, MistakesAreRefused) {
  for (const char* text :
       {"", "version 1\n", "version 1\ndoor x\n", "version 1\ndoor x\naddress y\n",
        "version 1\ndoor x\naddress 10.0.0.1:1\nmore 3\n",
        "version 1\ndoor x\naddress 10.0.0.1:1\nbackend steam\n",
        "version 1\ndoor x\nbackend ucx\naddress 10.0.0.1:1\n",
        "version 1\ndoor x\nbackend ucx\nworker 012\n", "version 1\ndoor x\nbackend ucx\nworker 0g\n"}) {
    EXPECT_FALSE(Card::parse(text)) << text;
  }
}

TEST(Card, OtherWishesAreNamedWithTheirRank) {
  Card own = some_card();
  Card other = some_card();
  other.schedules = world::schedules_text(
      {.algorithm = CollectiveAlgorithm::kRing, .chunk_bytes = 65536, .wire = WireDType::kBFloat16});
  EXPECT_EQ(other.schedules, "algorithm=ring chunk=65536 wire=bf16");
  EXPECT_EQ(world::schedules_text({.wire = WireDType::kSame, .sockets = 2}), "");
  EXPECT_TRUE(world::parse_cards({other.text(), other.text()}, other));
  const auto cards = world::parse_cards({own.text(), other.text()}, own);
  ASSERT_FALSE(cards);
  EXPECT_EQ(cards.error().code(), ErrorCode::kUsage);
  EXPECT_NE(cards.error().text().find("rank 1 asks for algorithm=ring"), std::string::npos)
      << cards.error().text();
  EXPECT_NE(cards.error().text().find("this rank for nothing"), std::string::npos) << cards.error().text();
}

TEST(Card, AnotherVersionIsNamedWithItsRank) {
  Card other = some_card();
  other.version = "1.2.4";
  const auto cards = world::parse_cards({some_card().text(), other.text()}, some_card());
  ASSERT_FALSE(cards);
  EXPECT_EQ(cards.error().code(), ErrorCode::kUnsupported);
  EXPECT_NE(cards.error().text().find("rank 1 runs Cohort 1.2.4"), std::string::npos) << cards.error().text();
}

TEST(Card, AnotherVersionIsNamedWhateverItsCardSays) {
  const auto cards = world::parse_cards({"version 9.9\nlatitude 52 N\n"}, some_card());
  ASSERT_FALSE(cards);
  EXPECT_EQ(cards.error().code(), ErrorCode::kUnsupported) << cards.error().text();
}

TEST(Card, AnotherBackendIsNamedWithItsRank) {
  Card other = some_card();
  other.backend = Backend::kUcx;
  other.worker = {std::byte{1}};
  const auto cards = world::parse_cards({some_card().text(), other.text()}, some_card());
  ASSERT_FALSE(cards);
  EXPECT_EQ(cards.error().code(), ErrorCode::kUsage);
  EXPECT_EQ(cards.error().message(), "rank 1 uses the backend ucx, this rank tcp");
}

TEST(Locality, HostsAreCountedByTheirFirstRanks) {
  EXPECT_EQ(*world::hosts_of_ranks({"0,2", "1", "0,2", "3"}), (std::vector<int>{0, 1, 0, 2}));
  EXPECT_EQ(*world::hosts_of_ranks({"0"}), (std::vector<int>{0}));
}

TEST(Locality, RanksThatDoNotAgreeAreNamed) {
  for (const std::vector<std::string>& found :
       {std::vector<std::string>{"0,1", "1"}, {"0", "0,1"}, {"1", "0"}, {"0,1,2", "0,1", "0,1,2"}}) {
    const auto hosts = world::hosts_of_ranks(found);
    ASSERT_FALSE(hosts);
    EXPECT_EQ(hosts.error().code(), ErrorCode::kUnsupported);
  }
}

TEST(Locality, ADoorIsFoundWhileItIsOpen) {
  std::vector<std::string> doors(3);
  {
    const world::Door first = *world::Door::open();
    const world::Door second = *world::Door::open();
    doors = {first.name(), second.name(), "cohort-nobody-has-this"};
    EXPECT_EQ(*world::ranks_here(doors, 0), (std::vector<int>{0, 1}));
  }
  EXPECT_EQ(*world::ranks_here(doors, 0), (std::vector<int>{0}));
}

}  // namespace
}  // namespace cohort::test

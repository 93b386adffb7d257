#include "world/card.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using world::by_cables;
using world::Card;
using world::num_common_cables;

struct At {
  std::string address;
  std::string subnet;
};

Card card_at(const std::vector<At>& list) {
  Card card{.version = "1", .door = "d"};
  for (const At& at : list) {
    card.addresses.push_back(value_or_throw(net::SocketAddress::parse(at.address)));
    card.subnets.push_back(at.subnet);
  }
  return card;
}

std::vector<std::string> texts(const std::vector<net::SocketAddress>& addresses) {
  std::vector<std::string> all;
  for (const net::SocketAddress& address : addresses) all.push_back(address.text());
  return all;
}

const At kFirst{"10.0.0.1:1", "10.0.0.0/24"}, kSecond{"10.0.0.2:2", "10.0.0.0/24"};
const At kFirstToo{"10.1.0.1:1", "10.1.0.0/24"}, kSecondToo{"10.1.0.2:2", "10.1.0.0/24"};
const At kBridge{"172.17.0.1:1", "172.17.0.0/16"}, kSameBridge{"172.17.0.1:2", "172.17.0.0/16"};
const At kFirst6{"[fd00::1]:1", "fd00::/64"}, kSecond6{"[fd00::2]:2", "fd00::/64"};

TEST(Cables, AreSubnetsThatAllHostsShare) {
  const Card one = card_at({kFirst, kFirstToo, kFirst6}), two = card_at({kSecond, kSecondToo, kSecond6});
  const Card poor = card_at({{"10.0.0.3:3", "10.0.0.0/24"}});
  EXPECT_EQ(num_common_cables({one, two}, {0, 1}), 2) << "a cable carries IPv4 and IPv6";
  EXPECT_EQ(num_common_cables({one, two, poor}, {0, 1, 2}), 1) << "the host with the fewest cables counts";
  EXPECT_EQ(num_common_cables({one, one, two}, {0, 0, 1}), 2) << "ranks of one host count once";
}

TEST(Cables, WhatEveryHostCallsTheSameIsNone) {
  const Card one = card_at({kFirst, kBridge}), two = card_at({kSecond, kSameBridge});
  EXPECT_EQ(num_common_cables({one, two}, {0, 1}), 1);
  EXPECT_EQ(texts(by_cables(one, card_at({kSameBridge, kSecond}))),
            (std::vector<std::string>{"10.0.0.2:2", "172.17.0.1:2"}));
}

TEST(Cables, MayBeOfIpv6Alone) {
  EXPECT_EQ(num_common_cables({card_at({kFirst6}), card_at({kSecond6})}, {0, 1}), 1);
}

TEST(Cables, OneConnectionIsMadeWhateverIsKnown) {
  const Card routed = card_at({{"10.9.0.1:1", "10.9.0.0/24"}}), unknown = card_at({{"10.8.0.1:1", ""}});
  EXPECT_EQ(num_common_cables({routed, card_at({kFirst})}, {0, 1}), 1) << "a router is between them";
  EXPECT_EQ(num_common_cables({unknown, unknown}, {0, 1}), 1);
  EXPECT_EQ(num_common_cables({routed, routed}, {0, 0}), 1) << "one host";
  EXPECT_EQ(texts(by_cables(routed, unknown)), (std::vector<std::string>{"10.8.0.1:1"}));
}

TEST(Cables, NoMoreAreTakenThanAreWorthIt) {
  std::vector<At> here, there;
  for (int i = 0; i < 9; ++i) {
    const std::string subnet = "10.0." + std::to_string(i) + ".0/24";
    here.push_back({"10.0." + std::to_string(i) + ".1:1", subnet});
    there.push_back({"10.0." + std::to_string(i) + ".2:2", subnet});
  }
  EXPECT_EQ(num_common_cables({card_at(here), card_at(there)}, {0, 1}), world::kMostChosenRails);
}

TEST(Cables, ACardTellsThem) {
  const Card card = card_at({kFirst, {"10.8.0.1:1", ""}});
  const Card read = value_or_throw(Card::parse(card.text()));
  EXPECT_EQ(read.subnets, card.subnets);
  EXPECT_EQ(texts(read.addresses), texts(card.addresses));
}

}  // namespace
}  // namespace cohort::test

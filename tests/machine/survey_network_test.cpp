#include "machine/survey_parts.h"

#include "machine/given_files.h"

#include <algorithm>
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>

namespace cohort::machine {
namespace {

TEST(Interfaces, AreGatheredFromTheirAddresses) {
  char lo[] = "lo";
  char eth[] = "eth0";
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  ::inet_pton(AF_INET, "10.0.0.2", &v4.sin_addr);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  ::inet_pton(AF_INET6, "fe80::1", &v6.sin6_addr);

  ifaddrs second_of_eth{};
  second_of_eth.ifa_name = eth;
  second_of_eth.ifa_flags = IFF_UP | IFF_RUNNING;
  second_of_eth.ifa_addr = reinterpret_cast<sockaddr*>(&v6);
  ifaddrs without_address = second_of_eth;
  without_address.ifa_name = lo;
  without_address.ifa_flags = IFF_UP | IFF_LOOPBACK;  // switched on, but not running
  without_address.ifa_addr = nullptr;
  without_address.ifa_next = &second_of_eth;
  ifaddrs first_of_eth = second_of_eth;
  first_of_eth.ifa_addr = reinterpret_cast<sockaddr*>(&v4);
  first_of_eth.ifa_next = &without_address;

  const std::vector<Interface> interfaces = interfaces_in(&first_of_eth);
  ASSERT_EQ(interfaces.size(), 2u);
  EXPECT_EQ(interfaces[0].name, "eth0");
  EXPECT_TRUE(interfaces[0].up);
  EXPECT_FALSE(interfaces[0].loopback);
  EXPECT_EQ(interfaces[0].ipv4, std::vector<std::string>{"10.0.0.2"});
  EXPECT_EQ(interfaces[0].ipv6, std::vector<std::string>{"fe80::1"});
  EXPECT_EQ(interfaces[1].name, "lo");
  EXPECT_FALSE(interfaces[1].up);
  EXPECT_TRUE(interfaces[1].loopback);
  EXPECT_EQ(interfaces_in(nullptr).size(), 0u);
}

TEST(SurveyNetwork, ReadsMtuAndSpeedWhereTheKernelTellsThem) {
  const auto interfaces = survey_network(
      given_files({{"/sys/class/net/lo/mtu", "65536\n"}, {"/sys/class/net/lo/speed", "-1\n"}}));
  ASSERT_TRUE(interfaces) << interfaces.error().text();
  const auto lo = std::find_if(interfaces->begin(), interfaces->end(),
                               [](const Interface& interface) { return interface.name == "lo"; });
  ASSERT_NE(lo, interfaces->end());
  EXPECT_TRUE(lo->loopback);
  EXPECT_EQ(lo->mtu_bytes, 65536);
  EXPECT_EQ(lo->speed_mbit, std::nullopt);
}

}  // namespace
}  // namespace cohort::machine

#include "net/own_addresses.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using net::OwnAddress;

OwnAddress at(const char* interface, const char* address) {
  return {.interface = interface, .address = *net::SocketAddress::parse(address)};
}

std::vector<std::string> texts(const std::vector<net::SocketAddress>& addresses) {
  std::vector<std::string> all;
  for (const net::SocketAddress& address : addresses) all.push_back(address.text());
  return all;
}

const std::vector<OwnAddress> kTwoCables = {at("eth0", "10.0.0.1:0"), at("eth0", "10.0.0.2:0"),
                                            at("eth1", "10.0.1.1:0"), at("eth0", "[fd00::1]:0"),
                                            at("eth1", "[fd01::1]:0")};

// Rails take the addresses in turn, so the order must spread them over all cables.
TEST(PublishedAddresses, InterfacesTakeTurns) {
  EXPECT_EQ(
      texts(*net::published_addresses(kTwoCables, {})),
      (std::vector<std::string>{"10.0.0.1:0", "10.0.1.1:0", "10.0.0.2:0", "[fd01::1]:0", "[fd00::1]:0"}));
  EXPECT_EQ(
      texts(*net::published_addresses(kTwoCables, {"eth1", "eth0"})),
      (std::vector<std::string>{"10.0.1.1:0", "10.0.0.1:0", "[fd01::1]:0", "10.0.0.2:0", "[fd00::1]:0"}));
}

TEST(PublishedAddresses, AnInterfaceThatIsNotThereIsNamed) {
  const auto addresses = net::published_addresses(kTwoCables, {"eth7"});
  ASSERT_FALSE(addresses);
  EXPECT_NE(addresses.error().text().find("eth7"), std::string::npos);
}

}  // namespace
}  // namespace cohort::test

#include "world/card.h"

#include <algorithm>
#include <set>
#include <sys/socket.h>

namespace cohort::world {
namespace {

bool has_other_address_in(const Card& card, const std::string& subnet, const net::SocketAddress& address) {
  for (std::size_t i = 0; i < card.addresses.size(); ++i) {
    if (card.subnets[i] == subnet && card.addresses[i].with_port(0).text() != address.with_port(0).text()) {
      return true;
    }
  }
  return false;
}

// Indices of the first address of `other` in each subnet that both are in.
std::vector<std::size_t> firsts_of_common(const Card& own, const Card& other, int family) {
  std::vector<std::size_t> firsts;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < other.addresses.size(); ++i) {
    const std::string& subnet = other.subnets[i];
    if (subnet.empty() || other.addresses[i].family() != family || seen.contains(subnet)) continue;
    if (!has_other_address_in(own, subnet, other.addresses[i])) continue;
    seen.insert(subnet);
    firsts.push_back(i);
  }
  return firsts;
}

std::vector<std::size_t> firsts_of_common(const Card& own, const Card& other) {
  std::vector<std::size_t> firsts = firsts_of_common(own, other, AF_INET);
  return firsts.empty() ? firsts_of_common(own, other, AF_INET6) : firsts;
}

// The first rank of each host.
std::vector<std::size_t> one_of_each_host(const std::vector<int>& hosts) {
  std::vector<std::size_t> ranks;
  std::set<int> seen;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (seen.insert(hosts[rank]).second) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

int num_common_cables(const std::vector<Card>& cards, const std::vector<int>& hosts) {
  std::size_t fewest = kMostChosenRails;
  const std::vector<std::size_t> ranks = one_of_each_host(hosts);
  for (const std::size_t one : ranks) {
    for (const std::size_t other : ranks) {
      if (one != other) fewest = std::min(fewest, firsts_of_common(cards[one], cards[other]).size());
    }
  }
  return ranks.size() < 2 ? 1 : std::max(1, static_cast<int>(fewest));
}

std::vector<net::SocketAddress> by_cables(const Card& own, const Card& other) {
  const std::vector<std::size_t> firsts = firsts_of_common(own, other);
  std::vector<net::SocketAddress> addresses;
  for (const std::size_t first : firsts) addresses.push_back(other.addresses[first]);
  for (std::size_t i = 0; i < other.addresses.size(); ++i) {
    if (std::find(firsts.begin(), firsts.end(), i) == firsts.end()) addresses.push_back(other.addresses[i]);
  }
  return addresses;
}

}  // namespace cohort::world

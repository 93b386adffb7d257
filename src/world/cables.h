#pragma once

#include "world/card.h"

#include <vector>

namespace cohort::world {

/// More connections than this are not made unless somebody asks for them.
inline constexpr int kMostChosenLanes = 4;

/// How many lanes ranks of different hosts have cables for: as many as any two of the hosts have subnets in
/// common, with an address of its own each. At least 1. What every host calls by the same address, as the
/// bridges that containers use, is no cable. Of IPv4 where there is any, as most cables have both.
int num_common_cables(const std::vector<Card>& cards, const std::vector<int>& hosts);

/// Where the other one is reached, as lanes are to try it: one address of each cable that both have, then the
/// others.
std::vector<net::SocketAddress> by_cables(const Card& own, const Card& other);

}  // namespace cohort::world

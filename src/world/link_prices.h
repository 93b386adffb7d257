#pragma once

#include "comm/group/communicator.h"
#include "comm/schedule/effort.h"
#include "world/link_cache.h"

#include <chrono>
#include <string>
#include <vector>

namespace cohort::world {

struct PricingOptions {
  std::vector<int> hosts{};              ///< host of each rank
  std::vector<std::string> addresses{};  ///< addresses of this host, without ports
  std::string way = "tcp-tls-1";         ///< see LinkName::way
  std::chrono::nanoseconds link_time = std::chrono::milliseconds(300);  ///< per link that is not in the cache
  std::chrono::nanoseconds limit = std::chrono::seconds(30);            ///< timeout of each call
};

/// The result of fit_prices().
struct Pricing {
  comm::Prices prices{};
  int sockets = 1;             ///< connections between two ranks that these prices hold for
  double far_bytes_per_s = 0;  ///< median rate of the links from this host; 0 without other hosts
};

/// Measures the cost model of a group's links (Hockney): α (seconds per message) and β (seconds per byte),
/// each inside a host and between hosts, and γ (seconds to combine a byte). A collective call: all ranks get
/// the same prices.
///
/// The first rank of each host measures the links to the other hosts: among up to five hosts one link at a
/// time, among more in rounds of disjoint pairs. Links in the cache of the lower-numbered host are not
/// measured. β between hosts is that of the slowest link, α the median.
///
/// Failure: that of the group's calls.
/// Cost: link_time for each link to measure, or with more than five hosts for each round, and some
/// milliseconds.
Result<Pricing> fit_prices(Communicator& group, LinkCache& cache, const PricingOptions& options);

}  // namespace cohort::world

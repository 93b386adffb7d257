#pragma once

#include "comm/communicator.h"
#include "comm/schedule/effort.h"
#include "world/link_cache.h"

#include <chrono>
#include <string>
#include <vector>

namespace cohort::world {

struct PricingOptions {
  std::vector<int> hosts{};              ///< which host each rank is on
  std::vector<std::string> addresses{};  ///< of this host, as others know them
  std::string way = "tcp-tls-1";         ///< engine and secrecy, as links are remembered by
  std::chrono::nanoseconds link_time = std::chrono::milliseconds(300);  ///< for a link that is not remembered
  std::chrono::nanoseconds limit = std::chrono::seconds(30);            ///< for all of it
};

/// What was found out.
struct Pricing {
  comm::Prices prices{};
  int sockets = 1;             ///< connections between two ranks that this is for
  double far_bytes_per_s = 0;  ///< of the middle one of the links of this host; 0: there is none
};

/// Finds out what messages, bytes and combinations cost between the ranks of a group: α and β inside a host
/// and between hosts, and γ. Every rank of the group calls it, and gets the same prices.
///
/// The first ranks of all hosts measure the links between them, of few hosts one after the other, of many in
/// rounds in which nobody is in two pairs; those that the cache of the lower of two hosts knows are not
/// measured. Of several links the slowest counts for bytes, the middle one for messages.
///
/// Failure: that of the group.
/// Cost: link_time for each link that is not known, of more than five hosts for each round of disjoint ones,
/// and some milliseconds.
Result<Pricing> fit_prices(Communicator& group, LinkCache& cache, const PricingOptions& options);

}  // namespace cohort::world

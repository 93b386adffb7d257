#pragma once

#include "base/result.h"
#include "net/hello.h"
#include "world/link_prices.h"
#include <cohort/default_limit.h>
#include <cohort/link_settings.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cohort::world {

/// Settings of the group of all ranks.
struct HostsOptions {
  int rank = 0;
  int world = 1;
  // The limits of ContextOptions, with the environment and the defaults filled in.
  std::chrono::nanoseconds limit = DefaultLimit::kCall;
  std::chrono::nanoseconds liveness = DefaultLimit::kLiveness;
  std::chrono::nanoseconds link_limit = DefaultLimit::kLink;
  std::chrono::nanoseconds meeting_limit = DefaultLimit::kMeeting;
  net::Secrecy secrecy = net::Secrecy::kTls;  ///< encryption of TCP; UCX has none
  std::vector<std::string> interfaces{};      ///< network interfaces to use; empty: all but loopback
  LinkSettings links{};
  std::optional<Pricing> pricing{};  ///< cost of links; empty: measured
  std::string link_cache{};          ///< directory of the LinkCache; empty: no cache
  /// Receives warnings about ranks that show no sign of life; called from other threads.
  std::function<void(const std::string&)> warn{};
};

/// kUsage, with the allowed values, for a chunk or number of sockets out of range.
Status check_links(const LinkSettings& settings);

}  // namespace cohort::world

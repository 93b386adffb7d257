#pragma once

#include "net/hello.h"
#include "world/link_prices.h"
#include <cohort/link_settings.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cohort::world {

/// How the ranks of several hosts form a group.
struct HostsOptions {
  int rank = 0;
  int world = 1;
  std::chrono::nanoseconds limit = std::chrono::seconds(30);           ///< of a call that has none
  std::chrono::nanoseconds liveness = std::chrono::milliseconds(500);  ///< of ranks on this host
  std::chrono::nanoseconds link_limit = std::chrono::seconds(5);  ///< how long a host may be out of reach
  std::chrono::nanoseconds meeting_limit = std::chrono::seconds(30);
  net::Secrecy secrecy = net::Secrecy::kTls;  ///< of TCP: UCX has none
  std::vector<std::string> interfaces{};      ///< empty: all but loopback
  LinkSettings links{};
  std::optional<Pricing> pricing{};  ///< what links cost; measured if it is not said
  std::string link_cache{};          ///< a directory: see LinkCache
};

}  // namespace cohort::world

#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace cohort::launch {

/// A host and how many ranks it gets.
struct HostShare {
  std::string name{};
  int ranks = 1;

  bool operator==(const HostShare&) const = default;
};

/// `a:4,b:4`, also `a,b` with one rank each and `[fe80::7]:2`. Failure: kUsage.
Result<std::vector<HostShare>> parse_hosts(std::string_view text);

int num_ranks(const std::vector<HostShare>& hosts);

}  // namespace cohort::launch

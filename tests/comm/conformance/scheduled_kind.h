#pragma once

#include "comm/conformance/kind.h"
#include "comm/network_kinds.h"
#include "comm/scheduled/plan.h"

#include <string>

namespace cohort::test {

/// A way to plan calls, and what it is called. Hosts are those of the network.
struct PlanFacts {
  std::string name{};
  comm::PlanOptions plan{};
};

/// Scheduled communicators over networks of one kind, each with an exchange and a progress thread of its own.
Kind scheduled_kind(const NetworkKind& network, const PlanFacts& facts);
/// All calls that this algorithm serves are run with it; if none is named, each with the one that fits.
Kind scheduled_kind(const NetworkKind& network, const std::string& algorithm = {});

}  // namespace cohort::test

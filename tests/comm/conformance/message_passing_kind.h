#pragma once

#include "comm/conformance/kind.h"
#include "comm/message_passing/plan.h"
#include "comm/network_kinds.h"

#include <optional>
#include <string>

namespace cohort::test {

/// Options for planning calls, with a name for test output. The hosts are those of the network.
struct PlanFacts {
  std::string name{};
  comm::PlanOptions plan{};
};

/// Message-passing communicators over networks of one kind, each with an exchange and a progress thread of
/// its own.
Kind message_passing_kind(const NetworkKind& network, const PlanFacts& facts);
/// `algorithm`: used for all calls that it supports; not set: the algorithm is chosen for each call.
Kind message_passing_kind(const NetworkKind& network, std::optional<CollectiveAlgorithm> algorithm = {});

}  // namespace cohort::test

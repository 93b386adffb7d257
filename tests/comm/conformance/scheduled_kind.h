#pragma once

#include "comm/conformance/kind.h"
#include "comm/transport/transport.h"

#include <functional>
#include <memory>
#include <string>

namespace cohort::test {

/// The transport of one member of a network.
using TransportSource = std::function<std::unique_ptr<comm::Transport>(int member)>;
/// A new network of n members.
using Networks = std::function<TransportSource(int world)>;

/// Scheduled communicators, each with an exchange and a progress thread of its own, over such networks.
Kind scheduled_kind(const std::string& name, const Networks& networks, const std::string& algorithm = {});

}  // namespace cohort::test

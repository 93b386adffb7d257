#pragma once

#include "comm/conformance/kind.h"
#include "comm/network_kinds.h"

#include <string>

namespace cohort::test {

/// Scheduled communicators over networks of one kind, each with an exchange and a progress thread of its own.
/// All calls that this algorithm serves are run with it; if none is named, each with the one that fits.
Kind scheduled_kind(const NetworkKind& network, const std::string& algorithm = {});

}  // namespace cohort::test

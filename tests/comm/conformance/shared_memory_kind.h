#pragma once

#include "comm/conformance/kind.h"

namespace cohort::test {

/// Ranks of one host, each with an arena of its own, that meet by the kernel's sockets.
Kind shared_memory_kind(const std::string& name);

}  // namespace cohort::test

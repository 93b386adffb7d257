#pragma once

#include "comm/conformance/kind.h"

namespace cohort::test {

/// The ranks whose buffers are in the arena. The call is direct or staged, depending on it.
enum class InArena { kNobodys, kEverybodys, kThoseOfOddRanks };

/// Ranks of one host, each with an arena of its own, that connect through Unix sockets.
Kind shared_memory_kind(const std::string& name, InArena in_arena);

}  // namespace cohort::test

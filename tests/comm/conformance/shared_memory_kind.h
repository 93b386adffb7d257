#pragma once

#include "comm/conformance/kind.h"

namespace cohort::test {

/// Whose numbers lie in the arena: the way they take depends on it.
enum class InArena { kNobodys, kEverybodys, kThoseOfOddRanks };

/// Ranks of one host, each with an arena of its own, that meet by the kernel's sockets.
Kind shared_memory_kind(const std::string& name, InArena in_arena);

}  // namespace cohort::test

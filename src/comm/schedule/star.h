#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule.h"

// The star: the root exchanges messages with every other rank itself.
//
//         1   2
//          \ /
//      5 -- 0 -- 3
//           |
//           4
//
// No rank needs the lengths of other ranks' parts: in gather and scatter only the root knows them.
//
// Order of summation: that of the ranks, from the left: ((x[0] ∘ x[1]) ∘ …) ∘ x[n−1], for every root.
// Cost of broadcast: (n−1) α + (n−1) S β. reduce: (n−1) S γ more, scratch 3 S at the root; in c chunks c
// times the α, 1/c of the γ.
// Cost of gather and scatter: (n−1) α + (n−1)/n S β, no scratch. barrier: 2(n−1) α.

namespace cohort::comm {

/// For broadcast, reduce, gather, scatter and barrier.
Schedule star_schedule(const CallFacts& facts);
Effort star_effort(const CallFacts& facts);

}  // namespace cohort::comm

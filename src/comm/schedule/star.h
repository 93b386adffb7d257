#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule.h"

// The star: the root talks to every other rank itself.
//
//         1   2
//          \ /
//      5 -- 0 -- 3
//           |
//           4
//
// No rank needs to know another's length: what the others of gather and scatter know is enough.
//
// Order of summation: that of the ranks, from the left: ((x[0] ∘ x[1]) ∘ …) ∘ x[n−1], whichever the root.
// broadcast: (n−1) α + (n−1) S β. reduce: the same + (n−1) S γ, memory 3 S at the root; in c
// chunks c times the α, a c-th of the γ.
// gather, scatter: (n−1) α + (n−1)/n S β, no memory. barrier: 2(n−1) α.

namespace cohort::comm {

/// Of broadcast, reduce, gather, scatter, barrier.
Schedule star_schedule(const CallFacts& facts);
Effort star_effort(const CallFacts& facts);

}  // namespace cohort::comm

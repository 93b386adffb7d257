#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

// Doubling (Bruck): as few steps as a butterfly, as few elements as a ring, for any number of ranks.
//
// In all_gather, rank r starts with its own part, receives the part of r + 1, then the two parts from r + 2
// on, then the four from r + 4 on; the last round brings the remaining parts. reduce_scatter runs the same
// messages backwards: partial sums of the parts that all_gather receives last are sent first. Parts held by
// rank 0 of n = 5, and where they come from:
//
//     gather  [0]  ← 1 from rank 1  [0 1]  ← 2 3 from rank 2  [0 1 2 3]  ← 4 from rank 4  [0 1 2 3 4]
//     reduce  4 → rank 4, 2 3 → rank 2, 1 → rank 1: in the end only the sum of part 0 is here
//
// Order of summation: with x[d] the input of the rank d before the owner of a part, and h the greatest power
// of two below n: sum(0), where sum(d) = ((x[d] ∘ sum(d+h)) ∘ sum(d+h/2)) ∘ … ∘ sum(d+s), over the powers of
// two s greater than d for which d + s < n.
//
// Cost of all_reduce: 2⌈log₂ n⌉ α + 2(n−1)/n S β + (n−1)/n S γ; reduce_scatter and all_gather cost one half
// each. A run of parts that wraps around the end of the buffer takes two messages instead of one: up to
// 3⌈log₂ n⌉ α in all. Scratch: S if n is a power of two, up to 2 S otherwise. In c chunks: c times the α, 1/c
// of the γ.

namespace cohort::comm {

/// Reduces part `me` of `source` over all team members into `own`, which may be that part of `source` itself.
void doubling_reduce_scatter(ScheduleBuilder& builder, const Team& team, const Cut& source, Region own,
                             std::size_t chunk_length);
/// Fills every part of `data` from the member that owns the part.
void doubling_all_gather(ScheduleBuilder& builder, const Team& team, const Cut& data,
                         std::size_t chunk_length);

/// For all_reduce, reduce_scatter and all_gather.
Schedule doubling_schedule(const CallFacts& facts);
Effort doubling_effort(const CallFacts& facts);

}  // namespace cohort::comm

#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

// Doubling round the circle: as few steps as a butterfly, as few elements as a ring, for any number of ranks.
//
// To gather, rank r has its own part, gets that of r + 1, then the two from r + 2 on, then the four from r +
// 4 on; the last round brings only what is missing. To reduce, the same paths are taken backwards: partial
// sums of the parts that came last are sent first. What rank 0 of n = 5 has, and what comes from where:
//
//     gather  [0]  ← 1 from rank 1  [0 1]  ← 2 3 from rank 2  [0 1 2 3]  ← 4 from rank 4  [0 1 2 3 4]
//     reduce  4 → rank 4, 2 3 → rank 2, 1 → rank 1: in the end only the sum of part 0 is here
//
// Order of summation: with x[d] the numbers of the rank d before the owner of a part, and h the greatest
// power of two below n: sum(0), where sum(d) = ((x[d] ∘ sum(d+h)) ∘ sum(d+h/2)) ∘ … ∘ sum(d+s), over the
// powers of two greater than d for which d + s < n.
//
// Cost of all_reduce: 2⌈log₂ n⌉ α + 2(n−1)/n S β + (n−1)/n S γ; reduce_scatter and all_gather one half each.
// A rank whose parts pass the end of the numbers needs two messages where others need one: up to 3⌈log₂ n⌉ α
// in all. Memory: S of a power of two, up to 2 S otherwise. In c chunks: c times the α, a c-th of the γ.

namespace cohort::comm {

/// `own` becomes the combination of all members' part `me` of `source`. `own` may be that part of `source`
/// itself.
void doubling_reduce_scatter(ScheduleBuilder& builder, const Team& team, const Cut& source, Region own,
                             std::size_t chunk_length);
/// Every part of `data` gets what its owner has there.
void doubling_all_gather(ScheduleBuilder& builder, const Team& team, const Cut& data,
                         std::size_t chunk_length);

/// Of all_reduce, reduce_scatter, all_gather.
Schedule doubling_schedule(const CallFacts& facts);
Effort doubling_effort(const CallFacts& facts);

}  // namespace cohort::comm

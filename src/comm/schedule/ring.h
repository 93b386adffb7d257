#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

// The ring: every rank sends only to the next rank and receives only from the previous one.
//
// The buffer is cut into n segments; rank k owns segment k. In the first half partial sums move: that of
// segment k starts at rank k + 1, and every rank adds its own input on the right before it sends the sum on,
// until the owner completes it. In the second half complete segments move the same way. n = 4, segments sent:
//
//     rank        0   1   2   3
//     step 1      3   0   1   2     partial sums: 0 is that of segment 0 after rank 1 alone
//     step 2      2   3   0   1
//     step 3      1   2   3   0     arrives: rank r completes segment r
//     step 4      0   1   2   3     complete segments
//     step 5      3   0   1   2
//     step 6      2   3   0   1
//
// Order of summation: segment k is ((x[k+1] ∘ x[k+2]) ∘ …) ∘ x[k], ranks counted modulo n.
// Cost of all_reduce: 2(n−1) α + 2(n−1)/n S β + (n−1)/n S γ; reduce_scatter and all_gather cost one half
// each. Scratch: two segments. No algorithm moves fewer elements; with many ranks or few elements the steps
// dominate. In c chunks a segment takes c messages, so that receiving, combining and sending overlap: c times
// the α, 1/c of the γ, c + 1 chunks of scratch.

namespace cohort::comm {

/// Reduces part `me` of `source` over all team members into `own`, which may be that part of `source` itself.
void ring_reduce_scatter(ScheduleBuilder& builder, const Team& team, const Cut& source, Region own,
                         std::size_t chunk_length);
/// Fills every part of `data` from the member that owns the part.
void ring_all_gather(ScheduleBuilder& builder, const Team& team, const Cut& data, std::size_t chunk_length);

/// For all_reduce, reduce_scatter and all_gather.
Schedule ring_schedule(const CallFacts& facts);
Effort ring_effort(const CallFacts& facts);

}  // namespace cohort::comm

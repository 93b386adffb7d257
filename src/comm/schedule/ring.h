#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

// The ring: every rank only sends to the next one and receives from the one before.
//
// The numbers are cut into n segments, one for each rank, its owner. In the first half, partial sums travel:
// that of segment k starts at rank k + 1, and every rank adds its own numbers on the right before it passes
// it on, until the owner completes it. In the second half complete segments travel the same way. n = 4,
// segments sent:
//
//     rank        0   1   2   3
//     step 1      3   0   1   2     partial sums: 0 is that of segment 0 after rank 1 alone
//     step 2      2   3   0   1
//     step 3      1   2   3   0     arrives: rank r completes segment r
//     step 4      0   1   2   3     complete segments
//     step 5      3   0   1   2
//     step 6      2   3   0   1
//
// Order of summation: segment k is ((x[k+1] ∘ x[k+2]) ∘ …) ∘ x[k], ranks counted round in circles.
// all_reduce: 2(n−1) α + 2(n−1)/n S β + (n−1)/n S γ; reduce_scatter and all_gather one half of it each.
// Memory: two segments. No algorithm moves less; with many ranks or few numbers the steps dominate. With c
// chunks a segment travels in c messages, so that receiving, combining and sending overlap: c times the
// messages, a c-th of the combining shows, c + 1 chunks of memory.

namespace cohort::comm {

/// `own` becomes the combination of all members' part `me` of `source`. `own` may be that part of `source`
/// itself.
void ring_reduce_scatter(ScheduleBuilder& builder, const Team& team, const Cut& source, Region own,
                         std::size_t chunk_length);
/// Every part of `data` gets what its owner has there.
void ring_all_gather(ScheduleBuilder& builder, const Team& team, const Cut& data, std::size_t chunk_length);

/// Of all_reduce, reduce_scatter, all_gather.
Schedule ring_schedule(const CallFacts& facts);
Effort ring_effort(const CallFacts& facts);

}  // namespace cohort::comm

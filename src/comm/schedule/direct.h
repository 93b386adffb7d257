#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

// Direct exchange: everybody sends to everybody what they need, at once. In its d-th message rank r sends to
// r + d, so that every rank receives one message at a time:
//
//     rank         0   1   2   3
//     message 1    1   2   3   0
//     message 2    2   3   0   1
//     message 3    3   0   1   2
//
// `direct` combines everything everywhere; `split` is a direct reduce_scatter of n even parts and then a
// direct all_gather of them.
//
// Order of summation: that of the ranks, from the left: ((x[0] ∘ x[1]) ∘ …) ∘ x[n−1].
// all_to_all, all_gather, reduce_scatter, S in all: (n−1) α + (n−1)/n S β, reduce_scatter + (n−1)/n S γ and
// memory for what arrives, (n−1)/n S. all_reduce, direct: (n−1) α + (n−1) S β + (n−1) S γ, memory (n−1) S.
// all_reduce, split: 2(n−1) α + 2(n−1)/n S β + (n−1)/n S γ, memory (n−1)/n S.
// In c chunks: c times the α, a c-th of the γ. all_to_all is never cut.
//
// What is rounded on the wire: `direct` combines everybody's numbers everywhere, so every rank begins by
// rounding its own, as the others get them.

namespace cohort::comm {

/// `own` becomes the combination of all members' part `me` of `source`. `own` may be that part of `source`
/// itself.
void direct_reduce_scatter(ScheduleBuilder& builder, const Team& team, const Cut& source, Region own,
                           std::size_t chunk_length);
/// Every part of `data` gets what its owner has there.
void direct_all_gather(ScheduleBuilder& builder, const Team& team, const Cut& data, std::size_t chunk_length);

/// Of all_to_all, all_gather, reduce_scatter, all_reduce.
Schedule direct_schedule(const CallFacts& facts);
Effort direct_effort(const CallFacts& facts);

/// Of all_reduce.
Schedule split_schedule(const CallFacts& facts);
Effort split_effort(const CallFacts& facts);

}  // namespace cohort::comm

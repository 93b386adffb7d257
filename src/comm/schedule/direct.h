#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

// Direct exchange: every rank sends every other rank its data at once. The d-th message of rank r goes to r +
// d, so that every rank receives one message at a time:
//
//     rank         0   1   2   3
//     message 1    1   2   3   0
//     message 2    2   3   0   1
//     message 3    3   0   1   2
//
// `direct` all_reduce sends the whole input to every rank and combines it on every rank; `split` is a direct
// reduce_scatter of n even parts, then a direct all_gather of them.
//
// Order of summation: that of the ranks, from the left: ((x[0] ∘ x[1]) ∘ …) ∘ x[n−1].
// Cost of all_to_all, all_gather and reduce_scatter with S elements in all: (n−1) α + (n−1)/n S β;
// reduce_scatter adds (n−1)/n S γ and (n−1)/n S of scratch memory for arriving elements.
// Cost of `direct` all_reduce: (n−1) α + (n−1) S β + (n−1) S γ, scratch (n−1) S.
// Cost of `split` all_reduce: 2(n−1) α + 2(n−1)/n S β + (n−1)/n S γ, scratch (n−1)/n S.
// In c chunks: c times the α, 1/c of the γ. all_to_all is never cut.
//
// With a wire type, `direct` all_reduce first rounds the own input on every rank, so that every rank combines
// the same elements.

namespace cohort::comm {

/// Reduces part `me` of `source` over all team members into `own`, which may be that part of `source` itself.
void direct_reduce_scatter(ScheduleBuilder& builder, const Team& team, const Cut& source, Region own,
                           std::size_t chunk_length);
/// Fills every part of `data` from the member that owns the part.
void direct_all_gather(ScheduleBuilder& builder, const Team& team, const Cut& data, std::size_t chunk_length);

/// For all_to_all, all_gather, reduce_scatter and all_reduce.
Schedule direct_schedule(const CallFacts& facts);
Effort direct_effort(const CallFacts& facts);

/// For all_reduce.
Schedule split_schedule(const CallFacts& facts);
Effort split_effort(const CallFacts& facts);

}  // namespace cohort::comm

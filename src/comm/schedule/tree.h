#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

// The binomial tree: who has the numbers gives them on, so that in every step twice as many ranks have them.
// With ranks counted from the root, v gets them from v without its lowest bit. n = 8:
//
//     0 ──────────── 4 ────── 6 ── 7
//     │              └ 5
//     ├────── 2 ── 3
//     └ 1
//
// Broadcast and scatter go from the root outwards, the greatest branch first; reduce and gather come back the
// same way, the smallest first. A branch holds the ranks from v on, round the circle, so gather and scatter
// move it in one message, or two where it passes the last rank.
//
// Order of summation: sum(v) = ((x[v] ∘ sum(v+1)) ∘ sum(v+2)) ∘ sum(v+4) …, counted from the root: a tree
// over the ranks in their order, from the root round the circle.
//
// broadcast: ⌈log₂ n⌉ α + ⌈log₂ n⌉ S β.
// reduce: the same + ⌈log₂ n⌉ S γ, memory ⌈log₂ n⌉ S at the root, less elsewhere; in c chunks c times the α,
// a c-th of the γ. gather, scatter: ⌈log₂ n⌉ α + (n−1)/n S β, one more α at the most for every branch that is
// cut in two; memory: the branch, at most S / 2. All ranks must know the lengths of all parts.

namespace cohort::comm {

/// `data` of the member at `root` reaches every member's.
void tree_broadcast(ScheduleBuilder& builder, const Team& team, int root, Region data);

/// Of broadcast, reduce, gather, scatter.
Schedule tree_schedule(const CallFacts& facts);
Effort tree_effort(const CallFacts& facts);

}  // namespace cohort::comm

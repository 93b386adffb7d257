#pragma once

#include "comm/schedule/call_facts.h"
#include "comm/schedule/effort.h"
#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

// The binomial tree: every rank that has the data sends it on, so that each step doubles the number of ranks
// that have it. With ranks counted from the root, the parent of v is v without its lowest bit. n = 8:
//
//     0 ──────────── 4 ────── 6 ── 7
//     │              └ 5
//     ├────── 2 ── 3
//     └ 1
//
// broadcast and scatter go from the root outwards, the greatest branch first; reduce and gather run
// backwards, the smallest branch first. A branch holds the ranks from v on, modulo n, so gather and scatter
// move it in one message, or in two if it wraps around the last rank.
//
// Order of summation: sum(v) = ((x[v] ∘ sum(v+1)) ∘ sum(v+2)) ∘ sum(v+4) …, counted from the root: a tree
// over the ranks in their order, from the root on, modulo n.
//
// Cost of broadcast: ⌈log₂ n⌉ α + ⌈log₂ n⌉ S β. reduce: ⌈log₂ n⌉ S γ more, scratch ⌈log₂ n⌉ S at the root,
// less elsewhere; in c chunks c times the α, 1/c of the γ.
// Cost of gather and scatter: ⌈log₂ n⌉ α + (n−1)/n S β, at most one more α for every branch that wraps
// around; scratch: the branch, at most S / 2. All ranks must know the lengths of all parts.

namespace cohort::comm {

/// Copies `data` of the member at position `root` to `data` of every member.
void tree_broadcast(ScheduleBuilder& builder, const Team& team, int root, Region data);

/// For broadcast, reduce, gather and scatter.
Schedule tree_schedule(const CallFacts& facts);
Effort tree_effort(const CallFacts& facts);

}  // namespace cohort::comm
